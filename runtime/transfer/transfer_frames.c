#include "runtime/transfer/transfer_frames.h"

#include <string.h>

#include "runtime/base/crc32c.h"

enum {
    FLAG = 0x7e,
    ESCAPE = 0x7d,
    TURN = 0x20,
    CTRL_C = 3,
    XON = 0x11,
    XOFF = 0x13,
    CRC_BYTES = 4
};

void transfer_put_number(uint8_t *out, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(number >> 8 * i);
    }
}

uint64_t transfer_number(const uint8_t *in, size_t bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < bytes && i < 8; i++) {
        number |= (uint64_t)in[i] << 8 * i;
    }
    return number;
}

/* A frame has ended: handle the bytes between two flags, if there are any. */
static enum transfer_taken end(struct transfer_decoder *d, struct transfer_frame *out)
{
    size_t n = d->n;
    bool whole = !d->too_long && !d->escaped && n >= TRANSFER_HEAD_BYTES + CRC_BYTES &&
                 crc32c(0, d->bytes, n - CRC_BYTES) ==
                     transfer_number(d->bytes + n - CRC_BYTES, CRC_BYTES);

    /* The next frame begins here, even if this one was damaged. */
    d->n = 0;
    d->escaped = d->too_long = false;
    /* The flags that end a frame and begin the next one may follow each other directly. */
    if (n == 0) {
        return TRANSFER_MORE;
    }
    if (!whole) {
        return TRANSFER_DAMAGED;
    }
    out->kind = d->bytes[0];
    out->number = transfer_number(d->bytes + 1, 8);
    out->data = d->bytes + TRANSFER_HEAD_BYTES;
    out->bytes = n - TRANSFER_HEAD_BYTES - CRC_BYTES;
    return TRANSFER_WHOLE;
}

enum transfer_taken transfer_take(struct transfer_decoder *d, uint8_t byte,
                                  struct transfer_frame *out)
{
    /* Ctrl-C is escaped in frames, so a bare one comes from a person. */
    if (byte == CTRL_C) {
        return TRANSFER_CTRL_C;
    }
    if (byte == FLAG) {
        return end(d, out);
    }
    if (byte == ESCAPE) {
        d->escaped = true;
        return TRANSFER_MORE;
    }
    /* The frame is too long, so a flag was lost. Read on to the next flag, and report the damage
     * there. */
    if (d->n == sizeof d->bytes) {
        d->too_long = true;
    } else {
        d->bytes[d->n++] = d->escaped ? byte ^ TURN : byte;
    }
    d->escaped = false;
    return TRANSFER_MORE;
}

static size_t put_escaped(uint8_t *out, const uint8_t *bytes, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        uint8_t b = bytes[i];

        /* XON and XOFF are also escaped, because flow control on the line would act on them. */
        if (b == FLAG || b == ESCAPE || b == CTRL_C || b == XON || b == XOFF) {
            out[at++] = ESCAPE;
            b ^= TURN;
        }
        out[at++] = b;
    }
    return at;
}

size_t transfer_put(uint8_t *out, const struct transfer_frame *f)
{
    uint8_t head[TRANSFER_HEAD_BYTES], check[CRC_BYTES];
    size_t n = 0;

    head[0] = f->kind;
    transfer_put_number(head + 1, f->number, 8);
    transfer_put_number(check, crc32c(crc32c(0, head, sizeof head), f->data, f->bytes), CRC_BYTES);
    out[n++] = FLAG;
    n += put_escaped(out + n, head, sizeof head);
    n += put_escaped(out + n, f->data, f->bytes);
    n += put_escaped(out + n, check, sizeof check);
    out[n++] = FLAG;
    return n;
}
