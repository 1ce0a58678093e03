#include "runtime/transfer/ymodem.h"

#include <string.h>

#include "board/min_max.h"

enum { SOH = 1, STX = 2, CTRL_C = 3, EOT = 4, ACK = 6, NAK = 21, CAN = 24, ASK = 'C' };
enum {
    BEGIN_MS = 3000, /* time between two requests to begin */
    BEGINS = 20,     /* number of requests to begin */
    BEGINS_MORE = 5, /* number of requests after a complete file */
    BLOCK_MS = 10000,
    SILENCES = 3, /* after this many silences in a row the sender is gone */
    BYTE_MS = 1000,
    TRIES = 10,      /* tries for one block */
    KEYS_MS = 500,   /* silence that shows that a Ctrl-C is a person's */
    KEYS_TO_STOP = 2 /* number of Ctrl-C that stop a file, because a single one may be noise */
};

enum got { BLOCK, DAMAGED, END, CANCELLED, STOPPED, NOTHING };

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

/* Read the rest of a block, whose first byte was read before: its number and n bytes of data. */
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
    /* The number comes twice, the second time inverted. */
    *number = (uint8_t)first;
    if (first == TRANSFER_NO_BYTE || second == TRANSFER_NO_BYTE || (first ^ second) != 0xff ||
        crc16(y->block, n) != (y->block[n] << 8 | y->block[n + 1])) {
        return DAMAGED;
    }
    return BLOCK;
}

/* Examine a byte between blocks, or after a damaged one. A sender sends no Ctrl-C there, but a
 * damaged block may contain such bytes. Only a Ctrl-C followed by silence is a person's. Return
 * true if enough Ctrl-C came since the last block to end the transfer; *byte is the next
 * byte. */
static bool is_stopped(struct ymodem *y, int *byte)
{
    unsigned keys = 0;

    while (*byte == CTRL_C) {
        keys++;
        *byte = get(y, KEYS_MS);
    }
    if (keys == 0 || *byte != TRANSFER_NO_BYTE) {
        return false;
    }
    y->n_keys += keys;
    return y->n_keys >= y->keys_to_stop;
}

/* Read the sender's next block or byte; noise before it is ignored, and noted in y->noise. */
static enum got read_next(struct ymodem *y, uint32_t ms, size_t *n, uint8_t *number)
{
    y->noise = false;
    for (unsigned i = 0; i < 2 * YMODEM_BLOCK_BYTES; i++) {
        int byte = get(y, ms);
        bool typed = byte == CTRL_C;

        if (is_stopped(y, &byte)) {
            return STOPPED;
        }
        switch (byte) {
        case TRANSFER_NO_BYTE:
            if (!typed) {
                return NOTHING;
            }
            break;
        case SOH: *n = 128; return read_block(y, *n, number);
        case STX: *n = YMODEM_BLOCK_BYTES; return read_block(y, *n, number);
        case EOT: return END;
        case CAN:
            if (get(y, BYTE_MS) == CAN) {
                return CANCELLED;
            }
            y->noise = true;
            break;
        default: y->noise = true; break;
        }
    }
    return DAMAGED;
}

/* Skip the rest of a damaged block: wait until the line is quiet. Return true if a person has
 * stopped the transfer. */
static bool drain(struct ymodem *y)
{
    for (unsigned i = 0; i < 4 * YMODEM_BLOCK_BYTES; i++) {
        int byte = get(y, BYTE_MS);

        if (is_stopped(y, &byte)) {
            return true;
        }
        /* After a second of silence the sender waits for an answer. */
        if (byte == TRANSFER_NO_BYTE) {
            break;
        }
    }
    return false;
}

static enum err give_up(struct ymodem *y, enum err e)
{
    for (int i = 0; i < 5; i++) {
        put(y, CAN);
    }
    (void)drain(y);
    return e;
}

/* A person has stopped the transfer: tell the sender. */
static enum err stop(struct ymodem *y)
{
    y->stopped = true;
    return give_up(y, ERR_ABORTED);
}

/* Read "name\0" and the size in decimal digits from a block of n bytes. False: no size. */
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

/* Read the block that names a file. Sets *more to false if there is no further file. */
static enum err begin(struct ymodem *y, uint64_t *left, bool *more)
{
    const struct file *file = NULL;
    enum got got = NOTHING;
    unsigned begins = y->n_files == 0 ? BEGINS : BEGINS_MORE;
    uint8_t number = 1;
    size_t n = 0;
    enum err e;

    *more = false;
    y->n_keys = 0;
    y->keys_to_stop = y->n_files == 0 ? 1 : KEYS_TO_STOP; /* before the first file a person may be
                                                           * typing */
    /* "C" asks for blocks with a CRC-16 until the sender begins with block 0. */
    for (unsigned i = 0; i < begins && (got != BLOCK || number != 0); i++) {
        put(y, ASK);
        got = read_next(y, BEGIN_MS, &n, &number);
        if (got == STOPPED) {
            return stop(y);
        }
        if (got == CANCELLED || (got == END && y->n_files == 0)) {
            return ERR_ABORTED;
        }
        if (got == END) { /* the previous file's end again: the answer to it was lost */
            put(y, ACK);
        }
    }
    if (got != BLOCK || number != 0) {
        return ERR_TIMEOUT;
    }
    y->block[n] = '\0'; /* the NUL overwrites the CRC */
    /* An empty name ends the batch. */
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

/* The current file. */
struct blocks {
    uint64_t left;  /* bytes of the file that are still to come */
    uint8_t number; /* number of the block that comes next */
    bool begun;     /* a block has come */
    unsigned ends;  /* EOTs in a row */
    unsigned tries, silences;
};

/* Take a block that came completely. Returns the sink's errors, ERR_BAD_CHECKSUM if blocks are
 * missing, or ERR_RANGE if the file has fewer blocks. */
static enum err take_block(struct ymodem *y, struct blocks *b, size_t n, uint8_t number)
{
    size_t bytes = (size_t)min_u64(n, b->left);
    enum err e;

    b->ends = b->tries = b->silences = 0;
    y->n_keys = 0;
    if (!b->begun && number == 0) { /* the header comes again, because its answer was lost */
        put(y, ACK);
        put(y, ASK);
        return ERR_OK;
    }
    if (number == (uint8_t)(b->number - 1)) { /* likewise */
        put(y, ACK);
        return ERR_OK;
    }
    if (number != b->number) {
        return ERR_BAD_CHECKSUM; /* YMODEM cannot repeat the missing blocks */
    }
    if (b->left == 0) { /* padding never needs another block */
        return ERR_RANGE;
    }
    e = transfer_sink_put(&y->sink, y->block, bytes);
    if (e != ERR_OK) {
        return e;
    }
    b->left -= bytes;
    b->number++;
    b->begun = true;
    put(y, ACK);
    return ERR_OK;
}

/* The received bytes were not a block. ERR_OK means that the block is requested again. */
static enum err ask_again(struct ymodem *y, struct blocks *b, enum got got)
{
    b->ends = 0;
    b->silences = got == NOTHING ? b->silences + 1 : 0;
    if (b->silences == SILENCES) {
        return ERR_TIMEOUT;
    }
    if (got != NOTHING && ++b->tries == TRIES) {
        return ERR_BAD_CHECKSUM;
    }
    /* A NAK in the middle of a block would be lost, so wait for its end. */
    if (got != NOTHING && drain(y)) {
        y->stopped = true;
        return ERR_ABORTED;
    }
    put(y, NAK);
    return ERR_OK;
}

/* End a file: it is complete and published before the sender is told that it has arrived. */
static enum err end_file(struct ymodem *y, const struct blocks *b)
{
    enum err e = b->left == 0 ? transfer_sink_flush(&y->sink) : ERR_TRUNCATED;

    if (e == ERR_OK) {
        e = y->close(y->context);
    }
    if (e == ERR_OK) {
        put(y, ACK);
    }
    return e;
}

/* Read the blocks of a file to its end. After an error the sender is told to stop, unless it gave
 * up itself (ERR_ABORTED). */
static enum err read_file(struct ymodem *y, uint64_t left)
{
    struct blocks b = { .left = left, .number = 1 };
    enum err e = ERR_OK;

    y->n_keys = 0;
    y->keys_to_stop = KEYS_TO_STOP;
    while (e == ERR_OK) {
        uint8_t number = 0;
        size_t n = 0;
        enum got got = read_next(y, BLOCK_MS, &n, &number);

        if (y->noise && (got == END || got == CANCELLED)) {
            got = DAMAGED; /* data of a block whose first byte was lost */
        }
        if (got == CANCELLED) {
            return ERR_ABORTED;
        }
        if (got == STOPPED) {
            return stop(y);
        }
        if (got == BLOCK) {
            e = take_block(y, &b, n, number);
        } else if (got == END && ++b.ends == 2) {
            e = end_file(y, &b);
            return e == ERR_OK ? e : give_up(y, e);
        } else if (got == END) { /* a single EOT may be noise; the sender repeats a real one */
            put(y, NAK);
        } else {
            e = ask_again(y, &b, got);
        }
    }
    return give_up(y, e);
}

enum err ymodem_receive(struct ymodem *y)
{
    bool more = true;
    enum err e = ERR_OK;

    y->n_files = 0;
    y->begun = y->stopped = false;
    while (e == ERR_OK && more) {
        uint64_t left;

        y->begun = false;
        e = begin(y, &left, &more);
        if (e == ERR_OK && more) {
            y->begun = true;
            e = read_file(y, left);
            y->n_files += e == ERR_OK;
        }
    }
    return e;
}
