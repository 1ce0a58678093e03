/* The bytes after an image's head are packed with LZMA, without a header but with an end mark (the
 * LZMA specification of the LZMA SDK, 9.20 and later; liblzma's raw LZMA1). The file is a quarter
 * to a third smaller than with LZ4, so firmware reads it sooner, but unpacking takes more
 * instructions (docs/experiments/bytes-of-the-image.md).
 *
 * This code runs before the rest of the image exists and before bss is cleared. This code may only
 * call functions of this file, and no constant may lie elsewhere. The Makefile has flags for this
 * file; boot/<isa>/unpack.S provides a stack. */
#include "boot/unpack_lzma.h"

enum {
    TOP_BITS = 24,   /* a range below 2^24 is renormalized */
    MODEL_BITS = 11, /* bits of a probability */
    MOVE_BITS = 5,
    HALF = 1 << (MODEL_BITS - 1),
    MATCH_LEAST = 2,
    SLOTS_DIRECT = 4, /* lower slots are the distances themselves */
    SLOTS_ALIGNED = 14,
    ALIGN_BITS = 4,
};

struct reader {
    const uint8_t *in;
    uint32_t range, code;
};

static void normalize(struct reader *r)
{
    if (r->range >> TOP_BITS == 0) {
        r->range <<= 8;
        r->code = r->code << 8 | *r->in++;
    }
}

/* Read a bit. Nine tenths of the time are spent here. Loops work on a copy of the reader, so that
 * the compiler keeps it in registers. */
static inline __attribute__((always_inline)) unsigned next_bit(struct reader *r,
                                                               uint16_t *probability)
{
    /* The range is split in proportion to the probability of a 0, which gets the lower part. */
    uint32_t bound = (r->range >> MODEL_BITS) * *probability;
    unsigned bit = r->code >= bound;

    if (bit != 0) {
        r->range -= bound;
        r->code -= bound;
        /* A 1 was seen: a 0 becomes less likely, by 1/32 of its probability. */
        *probability = (uint16_t)(*probability - (*probability >> MOVE_BITS));
    } else {
        r->range = bound;
        /* A 0 was seen. */
        *probability = (uint16_t)(*probability +
                                  (((1u << MODEL_BITS) - *probability) >> MOVE_BITS));
    }
    normalize(r);
    return bit;
}

static __attribute__((noinline)) unsigned read_bit(struct reader *r, uint16_t *probability)
{
    return next_bit(r, probability);
}

/* Read a value, the most significant bit first. */
static unsigned read_tree(struct reader *reader, uint16_t *tree, unsigned bits)
{
    struct reader r = *reader;
    unsigned at = 1, end = 1u << bits;

    while (at < end) {
        at = at << 1 | next_bit(&r, &tree[at]);
    }
    *reader = r;
    return at - end;
}

/* Read a value, the least significant bit first. */
static unsigned read_reverse_tree(struct reader *reader, uint16_t *tree, unsigned bits)
{
    struct reader r = *reader;
    unsigned at = 1, value = 0;

    for (unsigned i = 0; i < bits; i++) {
        unsigned bit = next_bit(&r, &tree[at]);

        at = at << 1 | bit;
        value |= bit << i;
    }
    *reader = r;
    return value;
}

static unsigned read_direct(struct reader *r, unsigned bits)
{
    unsigned value = 0;

    for (unsigned i = 0; i < bits; i++) {
        unsigned bit;

        /* Both values are equally likely: halve the range, without a model. */
        r->range >>= 1;
        bit = r->code >= r->range;
        r->code -= bit != 0 ? r->range : 0;
        value = value << 1 | bit;
        normalize(r);
    }
    return value;
}

static unsigned read_length(struct reader *r, struct unpack_lengths *l, unsigned place)
{
    if (read_bit(r, &l->choice) == 0) {
        return MATCH_LEAST + read_tree(r, l->low[place], 3);
    }
    if (read_bit(r, &l->choice2) == 0) {
        return MATCH_LEAST + 8 + read_tree(r, l->middle[place], 3);
    }
    /* Lengths of 2 to 9 and of 10 to 17 have models for each alignment; 18 to 273 share one. */
    return MATCH_LEAST + 16 + read_tree(r, l->high, 8);
}

/* Return how far back the copy begins, minus 1, or 0xffffffff at the end of the stream. */
static uint32_t read_distance(struct reader *r, struct unpack_lzma *u, unsigned length)
{
    unsigned group = length - MATCH_LEAST < 3 ? length - MATCH_LEAST : 3;
    unsigned slot = read_tree(r, u->slots[group], 6);
    unsigned bits = (slot >> 1) - 1;
    uint32_t distance;

    /* The slot gives the two highest bits of the distance and how many bits follow. */
    if (slot < SLOTS_DIRECT) {
        return slot;
    }
    distance = (2 | (slot & 1)) << bits;
    /* If the distance is below 128, the slot has models for all further bits. */
    if (slot < SLOTS_ALIGNED) {
        return distance + read_reverse_tree(r, &u->special[distance - slot], bits);
    }
    /* Otherwise the middle bits are almost random and have no models; the lowest four bits, the
     * alignment, have models. */
    distance += read_direct(r, bits - ALIGN_BITS) << ALIGN_BITS;
    return distance + read_reverse_tree(r, u->align, ALIGN_BITS);
}

/* Read a literal byte. `behind` is the byte that would continue the last match, and is used if a
 * match has just ended. */
static uint8_t read_literal(struct reader *reader, uint16_t *tree, bool matched, unsigned behind)
{
    struct reader r = *reader;
    unsigned at = 1;

    /* After a match, the next byte differs from the one that would continue it. The models use
     * that byte, up to the first bit that differs. */
    while (matched && at < 0x100) {
        unsigned expected = behind >> 7 & 1, bit;

        behind <<= 1;
        bit = next_bit(&r, &tree[((1 + expected) << 8) + at]);
        at = at << 1 | bit;
        matched = bit == expected;
    }
    /* The other bits use only the models of literals. */
    while (at < 0x100) {
        at = at << 1 | next_bit(&r, &tree[at]);
    }
    *reader = r;
    return (uint8_t)at;
}

/* The state records what came last: 0 to 6 after a literal, 7 to 11 after a match. */
static unsigned after_literal(unsigned state)
{
    if (state < 4) {
        return 0;
    }
    return state < 10 ? state - 3 : state - 6;
}

/* Choose one of the last four distances, which moves to the front. Returns the length, or 0 for a
 * single byte at the first distance. */
static unsigned read_repeat(struct reader *r, struct unpack_lzma *u, uint32_t last[4],
                            unsigned state, unsigned place)
{
    unsigned which = 0;
    uint32_t distance;

    if (read_bit(r, &u->repeat0[state]) == 0) {
        if (read_bit(r, &u->repeat0_long[state][place]) == 0) {
            return 0;
        }
    } else if (read_bit(r, &u->repeat1[state]) == 0) {
        which = 1;
    } else {
        which = 2 + read_bit(r, &u->repeat2[state]);
    }
    distance = last[which];
    /* The distance moves to the front of the last four. */
    for (; which > 0; which--) {
        last[which] = last[which - 1];
    }
    last[0] = distance;
    return read_length(r, &u->repeated, place);
}

/* Returns the next length and sets last[0] to the distance. Updates
 * *state. */
static unsigned read_match(struct reader *r, struct unpack_lzma *u, uint32_t last[4],
                           unsigned *state, unsigned place)
{
    unsigned length;
    bool after = *state >= 7;

    /* The stream may refer to an earlier distance. */
    if (read_bit(r, &u->is_repeat[*state]) != 0) {
        length = read_repeat(r, u, last, *state, place);
        *state = length == 0 ? (after ? 11u : 9u) : (after ? 11u : 8u);
        return length == 0 ? 1 : length;
    }
    /* A new distance pushes out the oldest. The match's length comes first, because short matches
     * have separate models of distances. */
    last[3] = last[2];
    last[2] = last[1];
    last[1] = last[0];
    length = read_length(r, &u->matches, place);
    last[0] = read_distance(r, u, length);
    *state = after ? 10 : 7;
    return length;
}

static void open_reader(struct reader *r, struct unpack_lzma *u, const uint8_t *in)
{
    uint16_t *all = (uint16_t *)u;

    for (size_t i = 0; i < sizeof *u / sizeof *all; i++) {
        all[i] = HALF;
    }
    r->in = in + 1; /* the first byte is always 0 */
    r->range = 0xffffffff;
    r->code = 0;
    for (unsigned i = 0; i < 4; i++) {
        r->code = r->code << 8 | *r->in++;
    }
}

uint8_t *unpack_block(struct unpack_lzma *u, const uint8_t *in, uint8_t *out)
{
    uint32_t last[4] = { 0, 0, 0, 0 };
    struct reader r;
    unsigned state = 0;

    open_reader(&r, u, in);
    for (size_t at = 0;;) {
        unsigned place = (uintptr_t)at & (UNPACK_PLACES - 1), length;

        /* Read one literal byte. */
        if (read_bit(&r, &u->is_match[state][place]) == 0) {
            unsigned behind = state >= 7 ? out[at - last[0] - 1] : 0;

            out[at++] = read_literal(&r, u->literals[place], state >= 7, behind);
            state = after_literal(state);
            continue;
        }
        /* Otherwise copy bytes that were written before; the greatest distance marks the end. */
        length = read_match(&r, u, last, &state, place);
        if (last[0] == 0xffffffff) {
            return out + at;
        }
        /* Copy byte by byte, because a copy may overlap its own output, which then repeats. */
        for (; length > 0; length--, at++) {
            out[at] = out[at - last[0] - 1];
        }
    }
}
