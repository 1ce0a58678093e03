#include "runtime/transfer/transfer_receive.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"

enum {
    STEP_MS = 100,
    SILENCE_MS = 30000, /* silence after which a transfer is given up */
    MEET_MS = 4000,     /* silence after which a rate is given up if nothing was received at it */
    AGAIN_MS = 3000,    /* time between two requests for the same bytes, if no ping has come between
                      * them */
    RESULT_MS = 500,
    TELL_MS = 500,
    GOODBYE_MS = 3000,
};

static void say(struct transfer *t, enum transfer_kind kind, uint64_t number, const uint8_t *data,
                size_t bytes)
{
    struct transfer_frame f = { (uint8_t)kind, number, data, bytes };

    t->wire->put(t->wire->context, t->out, transfer_put(t->out, &f));
}

static uint64_t now(const struct transfer *t)
{
    return t->wire->millis(t->wire->context);
}

/* Request bytes again, but for the same place only after AGAIN_MS, because data that are already in
 * flight arrive first. The sender then sends a ping, and all bytes from there on; after the ping
 * the place may be requested again at once. */
static void ask_again(struct transfer *t)
{
    if (t->again_at != t->sink.at || now(t) - t->again_ms >= AGAIN_MS) {
        t->again_at = t->sink.at;
        t->again_ms = now(t);
        say(t, TRANSFER_AGAIN, t->sink.at, NULL, 0);
    }
}

/* Compute the CRC-32C of bytes on the card; meanwhile the sender is told about the progress. */
static enum err read_crc(struct transfer *t, uint64_t at, uint64_t end, uint32_t *crc)
{
    struct transfer_sink *s = &t->sink;
    enum err e = ERR_OK;

    *crc = 0;
    while (e == ERR_OK && at < end) {
        size_t n = (size_t)min_u64(end - at, sizeof s->buffer);

        e = file_read_now(&s->io, s->file, at, s->buffer,
                          (n + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES);
        if (e == ERR_OK) {
            *crc = crc32c(*crc, s->buffer, n);
        }
        at += n;
        if (now(t) - t->told_ms >= TELL_MS) {
            t->told_ms = now(t);
            say(t, TRANSFER_WORK, at, NULL, 0);
        }
    }
    return e;
}

static enum err answer_query(struct transfer *t, const struct transfer_frame *f)
{
    uint64_t bytes = f->bytes == 8 ? transfer_number(f->data, 8) : 0, all = t->sink.file->bytes;
    uint8_t answer[4];
    uint32_t crc;
    enum err e;

    /* A query is allowed only at a multiple of a step, and while no data is held, because reading
     * uses the sink's buffer. */
    if (f->number % TRANSFER_STEP_BYTES != 0 || f->number > all || bytes > all - f->number ||
        t->sink.held != 0) {
        return ERR_OK; /* no sender sends this query, so ignore it */
    }
    /* The sender compares this CRC with its own and sends from the first difference on. */
    e = read_crc(t, f->number, f->number + bytes, &crc);
    transfer_put_number(answer, crc, sizeof answer);
    if (e == ERR_OK) {
        say(t, TRANSFER_THERE, f->number, answer, sizeof answer);
    }
    return e;
}

static enum err take_data(struct transfer *t, const struct transfer_frame *f)
{
    enum err e;

    /* There is a gap: a frame before this one was lost. */
    if (f->number > t->sink.at) {
        ask_again(t);
        return ERR_OK;
    }
    if (f->number == t->sink.at) {
        e = transfer_sink_put(&t->sink, f->data, f->bytes);
        if (e != ERR_OK) {
            return e;
        }
    }
    /* Answer data also if they came twice, because the sender may have missed the first answer. */
    say(t, TRANSFER_NEXT, t->sink.at, NULL, 0);
    return ERR_OK;
}

/* Check the end of the file. ERR_BUSY: bytes are missing. */
static enum err check_end(struct transfer *t, const struct transfer_frame *f)
{
    uint32_t crc;
    enum err e;

    if (t->sink.at != t->sink.file->bytes || f->bytes != 4) {
        ask_again(t);
        return ERR_BUSY;
    }
    /* Read everything back from the card, to check what it has stored. */
    e = transfer_sink_flush(&t->sink);
    if (e == ERR_OK) {
        e = read_crc(t, 0, t->sink.file->bytes, &crc);
    }
    if (e != ERR_OK) {
        return e;
    }
    return crc == transfer_number(f->data, 4) ? ERR_OK : ERR_BAD_CHECKSUM;
}

/* Carry out a frame. ERR_BUSY: the transfer continues. */
static enum err obey(struct transfer *t, const struct transfer_frame *f)
{
    enum err e = ERR_OK;

    t->met = true;
    switch (f->kind) {
    /* Bytes that were requested again come after a ping, so a new request is allowed now. */
    case TRANSFER_PING:
        t->again_at = UINT64_MAX;
        say(t, TRANSFER_PING, f->number, NULL, 0);
        break;
    case TRANSFER_QUERY: e = answer_query(t, f); break;
    /* The sender has chosen where to continue: at a multiple of a step, within the file. */
    case TRANSFER_START:
        if (f->number % TRANSFER_STEP_BYTES == 0 && f->number <= t->sink.file->bytes) {
            transfer_sink_open(&t->sink, t->sink.file, f->number);
            t->resumed_at = f->number;
            say(t, TRANSFER_NEXT, f->number, NULL, 0);
        }
        break;
    case TRANSFER_DATA: e = take_data(t, f); break;
    case TRANSFER_END: return check_end(t, f);
    case TRANSFER_BYE: return ERR_ABORTED;
    default: break;
    }
    return e == ERR_OK ? ERR_BUSY : e;
}

/* Wait while nothing comes. ERR_BUSY: go on waiting. */
static enum err wait_on(struct transfer *t)
{
    uint64_t silent = now(t) - t->heard_ms;

    /* Nothing was received at this rate: fall back to the slow rate, once. */
    if (!t->met && silent >= MEET_MS && t->wire->slow != NULL) {
        t->wire->slow(t->wire->context);
        t->met = true;
    }
    return silent >= SILENCE_MS ? ERR_TIMEOUT : ERR_BUSY;
}

static enum err step(struct transfer *t)
{
    int byte = t->wire->get(t->wire->context, STEP_MS);
    struct transfer_frame f;
    enum err e;

    if (byte == TRANSFER_NO_BYTE) {
        return wait_on(t);
    }
    switch (transfer_take(&t->decoder, (uint8_t)byte, &f)) {
    case TRANSFER_WHOLE:
        e = obey(t, &f);
        t->heard_ms = now(t);
        return e;
    /* Before the first whole frame, damage is noise from a wrong rate. */
    case TRANSFER_DAMAGED:
        if (t->met) {
            ask_again(t);
        }
        return wait_on(t);
    case TRANSFER_CTRL_C: return ERR_ABORTED;
    default: return ERR_BUSY;
    }
}

enum err transfer_receive(struct transfer *t, const struct transfer_wire *wire,
                          const struct file *file)
{
    enum err e;

    memset(&t->decoder, 0, sizeof t->decoder);
    t->wire = wire;
    t->met = wire->slow == NULL;
    t->resumed_at = t->again_ms = t->told_ms = 0;
    t->again_at = UINT64_MAX;
    t->heard_ms = now(t);
    transfer_sink_open(&t->sink, file, 0);
    do {
        e = step(t);
    } while (e == ERR_BUSY);
    return e;
}

bool transfer_conclude(struct transfer *t, const char *error_message)
{
    size_t bytes = error_message == NULL ? 0 : min_size(strlen(error_message), TRANSFER_DATA_BYTES);
    uint64_t start = now(t), told = 0;
    struct transfer_frame f;
    bool heard = false, said = false;

    while (!heard && now(t) - start < GOODBYE_MS) {
        int byte;

        /* Repeat the result until the goodbye comes, because either may be lost. */
        if (!said || now(t) - told >= RESULT_MS) {
            say(t, TRANSFER_RESULT, error_message != NULL, (const uint8_t *)error_message, bytes);
            said = true;
            told = now(t);
        }
        byte = t->wire->get(t->wire->context, STEP_MS);
        heard = byte != TRANSFER_NO_BYTE &&
                transfer_take(&t->decoder, (uint8_t)byte, &f) == TRANSFER_WHOLE &&
                f.kind == TRANSFER_BYE;
    }
    return heard;
}
