/* DEFLATE (RFC 1951): files of a zip archive. */
#include <string.h>

#include "flash_image/card/card_zip.h"

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 32, CODE_LENGTHS = 19, END_OF_BLOCK = 256 };

struct bits {
    const uint8_t *at, *end;
    uint32_t held;
    unsigned n_held;
    bool is_over; /* the input has ended too early */
};

/* A Huffman code (RFC 1951, 3.2.2). Codes of the same length are consecutive numbers; they stand
 * for symbols in ascending order. */
struct code {
    uint16_t n[MOST_BITS + 1];         /* number of codes of each length, ... */
    uint32_t first[MOST_BITS + 1];     /* ... the first code of each length, ... */
    uint16_t symbol_of[MOST_BITS + 1]; /* ... and its symbol's index in `symbols` */
    uint16_t symbols[LITERALS];
};

struct output {
    uint8_t *bytes;
    size_t n, room;
};

static uint32_t take(struct bits *b, unsigned n)
{
    uint32_t value;

    while (b->n_held < n) {
        if (b->at == b->end) {
            b->is_over = true;
            return 0;
        }
        b->held |= (uint32_t)*b->at++ << b->n_held;
        b->n_held += 8;
    }
    value = b->held & ((1u << n) - 1);
    b->held >>= n;
    b->n_held -= n;
    return value;
}

/* Make the code from the lengths of its codes. False if these lengths give more codes than there
 * can be (3.2.2). Fewer codes are allowed, for example a single distance. */
static bool code_make(struct code *c, const uint8_t *lengths, unsigned n)
{
    uint16_t put[MOST_BITS + 1];

    memset(c, 0, sizeof *c);
    for (unsigned i = 0; i < n; i++) {
        c->n[lengths[i]]++;
    }
    c->n[0] = 0;
    for (unsigned bits = 1; bits <= MOST_BITS; bits++) {
        c->first[bits] = (c->first[bits - 1] + c->n[bits - 1]) << 1;
        c->symbol_of[bits] = (uint16_t)(c->symbol_of[bits - 1] + c->n[bits - 1]);
        if (c->first[bits] + c->n[bits] > 1u << bits) {
            return false;
        }
    }
    memcpy(put, c->symbol_of, sizeof put);
    for (unsigned i = 0; i < n; i++) {
        if (lengths[i] != 0) {
            c->symbols[put[lengths[i]]++] = (uint16_t)i;
        }
    }
    return true;
}

/* Read the next symbol; -1 if no symbol has these bits. Codes are stored with their highest bit
 * first (3.1.1). */
static int decode(struct bits *b, const struct code *c)
{
    uint32_t value = 0;

    for (unsigned bits = 1; bits <= MOST_BITS && !b->is_over; bits++) {
        value = value << 1 | take(b, 1);
        if (value >= c->first[bits] && value - c->first[bits] < c->n[bits]) {
            return c->symbols[c->symbol_of[bits] + value - c->first[bits]];
        }
    }
    return -1;
}

/* Copy a block without compression (3.2.4). From the next whole byte on, the block has a length,
 * the complement of the length, and the bytes. */
static bool copy_stored(struct bits *b, struct output *out)
{
    size_t n;

    b->held = b->n_held = 0; /* these are fewer than 8 bits */
    if (b->end - b->at < 4) {
        return false;
    }
    n = (size_t)b->at[0] | (size_t)b->at[1] << 8;
    if ((n ^ 0xffff) != ((size_t)b->at[2] | (size_t)b->at[3] << 8)) {
        return false;
    }
    b->at += 4;
    if ((size_t)(b->end - b->at) < n || out->room - out->n < n) {
        return false;
    }
    memcpy(out->bytes + out->n, b->at, n);
    b->at += n;
    out->n += n;
    return true;
}

/* Copy earlier output; the source may overlap with the copy (3.2.3). */
static bool repeat(struct bits *b, struct output *out, int symbol, const struct code *distances)
{
    static const uint16_t lengths[] = { 3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                        15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                        67, 83, 99, 115, 131, 163, 195, 227, 258 };
    static const uint8_t length_bits[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
    static const uint16_t starts[] = {
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577
    };
    int n_lengths = sizeof lengths / sizeof lengths[0], n_starts = sizeof starts / sizeof starts[0];
    size_t bytes, back;
    int far;

    symbol -= END_OF_BLOCK + 1;
    if (symbol >= n_lengths) {
        return false;
    }
    bytes = lengths[symbol] + take(b, length_bits[symbol]);
    far = decode(b, distances);
    if (far < 0 || far >= n_starts) {
        return false;
    }
    back = starts[far] + take(b, far < 2 ? 0 : (unsigned)far / 2 - 1);
    if (b->is_over || back > out->n || out->room - out->n < bytes) {
        return false;
    }
    for (; bytes > 0; bytes--, out->n++) {
        out->bytes[out->n] = out->bytes[out->n - back];
    }
    return true;
}

static bool copy_coded(struct bits *b, struct output *out, const struct code *literals,
                       const struct code *distances)
{
    while (!b->is_over) {
        int symbol = decode(b, literals);

        if (symbol == END_OF_BLOCK) {
            return true;
        }
        if (symbol < 0) {
            return false;
        }
        if (symbol > END_OF_BLOCK) {
            if (!repeat(b, out, symbol, distances)) {
                return false;
            }
        } else if (out->n < out->room) {
            out->bytes[out->n++] = (uint8_t)symbol;
        } else {
            return false;
        }
    }
    return false;
}

/* Copy a block with the fixed code (3.2.6). */
static bool copy_fixed(struct bits *b, struct output *out)
{
    uint8_t lengths[LITERALS], far[30];
    struct code literals, distances;

    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    memset(far, 5, sizeof far);
    return code_make(&literals, lengths, LITERALS) && code_make(&distances, far, sizeof far) &&
           copy_coded(b, out, &literals, &distances);
}

/* Read n code lengths (3.2.7), which are Huffman-coded themselves; the symbols 16 to 18 repeat a
 * length. */
static bool read_lengths(struct bits *b, const struct code *code, uint8_t *lengths, unsigned n)
{
    unsigned i = 0;

    while (i < n) {
        int symbol = decode(b, code);
        uint8_t value = 0;
        unsigned times = 1;

        if (symbol < 0 || (symbol == 16 && i == 0)) {
            return false;
        }
        if (symbol < 16) {
            value = (uint8_t)symbol;
        } else if (symbol == 16) {
            value = lengths[i - 1];
            times = 3 + take(b, 2);
        } else {
            times = symbol == 17 ? 3 + take(b, 3) : 11 + take(b, 7);
        }
        if (times > n - i) {
            return false;
        }
        memset(lengths + i, value, times);
        i += times;
    }
    return !b->is_over;
}

/* Copy a block that contains its codes (3.2.7). */
static bool copy_dynamic(struct bits *b, struct output *out)
{
    static const uint8_t order[CODE_LENGTHS] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                 11, 4,  12, 3, 13, 2, 14, 1, 15 };
    unsigned n_literals = 257 + take(b, 5), n_distances = 1 + take(b, 5), n = 4 + take(b, 4);
    uint8_t lengths[LITERALS + DISTANCES] = { 0 };
    struct code first, literals, distances;

    if (n_literals > LITERALS) {
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        lengths[order[i]] = (uint8_t)take(b, 3);
    }
    if (!code_make(&first, lengths, CODE_LENGTHS)) {
        return false;
    }
    memset(lengths, 0, sizeof lengths);
    return read_lengths(b, &first, lengths, n_literals + n_distances) &&
           code_make(&literals, lengths, n_literals) &&
           code_make(&distances, lengths + n_literals, n_distances) &&
           copy_coded(b, out, &literals, &distances);
}

bool card_inflate(const uint8_t *packed, size_t packed_bytes, uint8_t *bytes, size_t n)
{
    struct bits b = { .at = packed, .end = packed + packed_bytes };
    struct output out = { bytes, 0, n };
    bool is_last, good;

    do {
        is_last = take(&b, 1) != 0;
        switch (take(&b, 2)) {
        case 0: good = copy_stored(&b, &out); break;
        case 1: good = copy_fixed(&b, &out); break;
        case 2: good = copy_dynamic(&b, &out); break;
        default: good = false; break;
        }
    } while (good && !b.is_over && !is_last);
    return good && !b.is_over && out.n == n;
}
