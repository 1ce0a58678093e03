#include "runtime/transfer/ymodem.h"

#include <string.h>

#include "board/min_max.h"

enum { SOH = 1, STX = 2, CTRL_C = 3, EOT = 4, ACK = 6, NAK = 21, CAN = 24, ASK = 'C' };
enum {
    BEGIN_MS = 3000, /* between two requests to begin ... */
    BEGINS = 20,     /* ... so many */
    BLOCK_MS = 10000,
    BYTE_MS = 1000,
    TRIES = 10, /* of one block */
};

enum got { BLOCK, DAMAGED, END, CANCELLED, NOTHING };

static int get(const struct ymodem *y, uint32_t ms)
{
    return y->wire->get(y->wire->context, ms);
}

static void put(const struct ymodem *y, uint8_t byte)
{
    y->wire->put(y->wire->context, &byte, 1);
}

/* CRC-16 with the polynomial x^16 + x^12 + x^5 + 1, from 0, highest bit first. */
static uint16_t crc16(const uint8_t *bytes, size_t n)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < n; i++) {
        crc ^= (uint32_t)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0);
        }
    }
    return (uint16_t)crc;
}

/* What follows the first byte of a block of n bytes. */
static enum got read_block(struct ymodem *y, size_t n, uint8_t *number)
{
    int first = get(y, BYTE_MS), second = get(y, BYTE_MS);

    for (size_t i = 0; i < n + 2; i++) {
        int byte = get(y, BYTE_MS);

        if (byte == TRANSFER_NO_BYTE) {
            return DAMAGED;
        }
        y->block[i] = (uint8_t)byte;
    }
    *number = (uint8_t)first;
    if (first == TRANSFER_NO_BYTE || second == TRANSFER_NO_BYTE || (first ^ second) != 0xff ||
        crc16(y->block, n) != (y->block[n] << 8 | y->block[n + 1])) {
        return DAMAGED;
    }
    return BLOCK;
}

/* The next thing that the sender says; noise before it is passed over. */
static enum got read_next(struct ymodem *y, uint32_t ms, size_t *n, uint8_t *number)
{
    for (unsigned i = 0; i < 2 * YMODEM_BLOCK_BYTES; i++) {
        int byte = get(y, ms);

        switch (byte) {
        case TRANSFER_NO_BYTE: return NOTHING;
        case SOH: *n = 128; return read_block(y, *n, number);
        case STX: *n = YMODEM_BLOCK_BYTES; return read_block(y, *n, number);
        case EOT: return END;
        case CAN:
            if (get(y, BYTE_MS) == CAN) {
                return CANCELLED;
            }
            break;
        case CTRL_C:
            if (ms == BEGIN_MS && y->n_files == 0) { /* nobody sends: somebody types */
                return CANCELLED;
            }
            break;
        default: break;
        }
    }
    return DAMAGED;
}

/* Until the line is quiet: what is left of a block that came wrong. */
static void drain(struct ymodem *y)
{
    for (unsigned i = 0; i < 4 * YMODEM_BLOCK_BYTES && get(y, BYTE_MS) != TRANSFER_NO_BYTE; i++) {
    }
}

static enum err give_up(struct ymodem *y, enum err e)
{
    for (int i = 0; i < 5; i++) {
        put(y, CAN);
    }
    drain(y);
    return e;
}

/* "name\0" and the size in decimal digits, in a block of n bytes. False: no size. */
static bool read_size(const struct ymodem *y, size_t n, uint64_t *bytes)
{
    size_t at = strlen((const char *)y->block) + 1;
    bool some = false;

    *bytes = 0;
    for (; at < n && y->block[at] >= '0' && y->block[at] <= '9' && *bytes < 1ull << 56; at++) {
        *bytes = 10 * *bytes + (y->block[at] - '0');
        some = true;
    }
    return some;
}

/* The block that names a file. *more false: there is none. */
static enum err begin(struct ymodem *y, uint64_t *left, bool *more)
{
    const struct file *file = NULL;
    enum got got = NOTHING;
    uint8_t number = 1;
    size_t n = 0;
    enum err e;

    *more = false;
    for (unsigned i = 0; i < BEGINS && (got == NOTHING || got == DAMAGED || number != 0); i++) {
        put(y, ASK);
        got = read_next(y, BEGIN_MS, &n, &number);
        if (got == CANCELLED || got == END) {
            return ERR_ABORTED;
        }
    }
    if (got != BLOCK || number != 0) {
        return ERR_TIMEOUT;
    }
    y->block[n] = '\0'; /* behind it was its CRC */
    if (y->block[0] == '\0') {
        put(y, ACK);
        return ERR_OK;
    }
    if (!read_size(y, n, left)) {
        return give_up(y, ERR_UNSUPPORTED);
    }
    e = y->open(y->context, (const char *)y->block, *left, &file);
    if (e != ERR_OK) {
        return give_up(y, e);
    }
    transfer_sink_open(&y->sink, file, 0);
    put(y, ACK);
    put(y, ASK);
    *more = true;
    return ERR_OK;
}

/* The blocks of a file, to its end. */
static enum err read_file(struct ymodem *y, uint64_t left)
{
    unsigned tries = 0, ends = 0;
    uint8_t expected = 1;

    while (tries < TRIES && ends < 2) {
        uint8_t number = 0;
        size_t n = 0;
        enum got got = read_next(y, BLOCK_MS, &n, &number);
        enum err e = ERR_OK;

        if (got == CANCELLED) {
            return ERR_ABORTED;
        }
        if (got == END) { /* one may be noise: the sender says it again */
            put(y, ++ends < 2 ? NAK : ACK);
            continue;
        }
        if (got != BLOCK) {
            tries++;
            drain(y);
            put(y, NAK);
            continue;
        }
        if (number != expected && number != (uint8_t)(expected - 1)) {
            return give_up(y, ERR_BAD_CHECKSUM); /* blocks between them are lost for good */
        }
        if (number == expected) {
            size_t bytes = (size_t)min_u64(n, left);

            e = transfer_sink_put(&y->sink, y->block, bytes);
            left -= bytes;
            expected++;
            tries = 0;
        }
        if (e != ERR_OK) {
            return give_up(y, e);
        }
        put(y, ACK);
    }
    if (ends < 2) {
        return give_up(y, ERR_BAD_CHECKSUM);
    }
    return left == 0 ? transfer_sink_flush(&y->sink) : ERR_TRUNCATED;
}

enum err ymodem_receive(struct ymodem *y)
{
    bool more = true;
    enum err e = ERR_OK;

    y->n_files = 0;
    while (e == ERR_OK && more) {
        uint64_t left;

        e = begin(y, &left, &more);
        if (e != ERR_OK || !more) {
            break;
        }
        e = read_file(y, left);
        if (e == ERR_OK) {
            e = y->close(y->context);
        }
        y->n_files += e == ERR_OK;
        if (e != ERR_OK && e != ERR_ABORTED) {
            (void)give_up(y, e);
        }
    }
    return e;
}
