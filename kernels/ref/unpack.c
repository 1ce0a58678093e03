/* Unpack packed layouts of weights to layouts that gemvs read. The bytes of eight rows are adjacent, so a word of 64 bits has all of
 * them, and every step works on such words. So unpacking is fast even on cores without vectors. */
#include <string.h>

#include "kernels/kernels.h"

enum { WORD = 8 };

#define BYTES(x) (UINT64_C(0x0101010101010101) * (x))

/* Words are loaded from and stored to members whose offsets are multiples of 8. */
static inline uint64_t load_word(const uint8_t *from)
{
    uint64_t word;

    memcpy(&word, __builtin_assume_aligned(from, WORD), WORD);
    return word;
}

static inline void store_word(void *to, uint64_t word)
{
    memcpy(__builtin_assume_aligned(to, WORD), &word, WORD);
}

/* Return the 6 bits of sub-block j of n, for eight rows: four bits in a nibble whose byte also
 * serves sub-block j + n / 2, two bits in a byte that also serves three other sub-blocks. */
static inline uint64_t six_bits(const uint8_t (*low)[GROUP_ROWS], const uint8_t (*high)[GROUP_ROWS],
                                unsigned n, unsigned j)
{
    uint64_t four = load_word(low[j % (n / 2)]) >> 4 * (j / (n / 2)) & BYTES(15);
    uint64_t two = load_word(high[j % (n / 4)]) >> 2 * (j / (n / 4)) & BYTES(3);

    return four | two << 4;
}

/* Q3_K: everything but the scales is copied. Subtract 32 from bytes of 0 to 63: bit 7 is set first, so that no byte
 * borrows from the next one. 128 + x - 32 with bit 7 inverted is x - 32. */
void unpack_q3kx8_q3kpx8_ref(void *restrict y, const void *restrict w, size_t n)
{
    const struct block_q3kpx8 *from = w;
    struct block_q3kx8 *to = y;

    for (size_t i = 0; i < n; i++, from++, to++) {
        memcpy(to->d, from->d, sizeof to->d);
        for (unsigned j = 0; j < 16; j++) {
            uint64_t scales = six_bits(from->scales_low, from->scales_high, 16, j);

            store_word(to->scales[j], ((scales | BYTES(128)) - BYTES(32)) ^ BYTES(128));
        }
        memcpy(to->low, from->low, sizeof to->low);
        memcpy(to->high, from->high, sizeof to->high);
    }
}

/* Entry e is 2^(e - 25) as fp16, which is subnormal up to e = 10, or 0 for values of e that no
 * block has. */
static const uint16_t powers[64] = {
    0,      0x0001, 0x0002, 0x0004, 0x0008, 0x0010, 0x0020, 0x0040, 0x0080, 0x0100, 0x0200,
    0x0400, 0x0800, 0x0c00, 0x1000, 0x1400, 0x1800, 0x1c00, 0x2000, 0x2400, 0x2800, 0x2c00,
    0x3000, 0x3400, 0x3800, 0x3c00, 0x4000, 0x4400, 0x4800, 0x4c00, 0x5000, 0x5400, 0x5800,
    0x5c00, 0x6000, 0x6400, 0x6800, 0x6c00, 0x7000, 0x7400, 0x7800,
};

void unpack_t4x8_mx4px8_ref(void *restrict y, const void *restrict w, size_t n)
{
    const struct block_mx4px8 *from = w;
    struct block_t4x8 *to = y;

    for (size_t i = 0; i < n; i++, from++, to++) {
        for (size_t r = 0; r < GROUP_ROWS; r++) {
            to->d[r] = powers[from->e[r] & 63];
        }
        memcpy(to->q, from->q, sizeof to->q);
    }
}

/* -32 to 31 as fp16, indexed by 0 to 63. */
static const uint16_t integers[64] = {
    0xd000, 0xcfc0, 0xcf80, 0xcf40, 0xcf00, 0xcec0, 0xce80, 0xce40, 0xce00, 0xcdc0, 0xcd80,
    0xcd40, 0xcd00, 0xccc0, 0xcc80, 0xcc40, 0xcc00, 0xcb80, 0xcb00, 0xca80, 0xca00, 0xc980,
    0xc900, 0xc880, 0xc800, 0xc700, 0xc600, 0xc500, 0xc400, 0xc200, 0xc000, 0xbc00, 0x0000,
    0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800, 0x4880, 0x4900, 0x4980,
    0x4a00, 0x4a80, 0x4b00, 0x4b80, 0x4c00, 0x4c40, 0x4c80, 0x4cc0, 0x4d00, 0x4d40, 0x4d80,
    0x4dc0, 0x4e00, 0x4e40, 0x4e80, 0x4ec0, 0x4f00, 0x4f40, 0x4f80, 0x4fc0,
};

void unpack_t4x8_iq4xsx8_ref(void *restrict y, const void *restrict w, size_t n)
{
    const struct block_iq4xsx8 *from = w;
    struct block_t4x8 *to = y;

    for (size_t i = 0; i < n; i++, from++) {
        for (unsigned j = 0; j < BLOCK_K_COLS / BLOCK_COLS; j++, to++) {
            uint64_t scales = six_bits(from->scales_low, from->scales_high, 8, j);

            for (size_t r = 0; r < GROUP_ROWS; r++) {
                to->d[r] = integers[scales >> 8 * r & 63];
            }
            memcpy(to->q, from->q[j], sizeof to->q);
        }
    }
}

/* Every second byte of a word, in lanes of 16 bits, which have room for a product. */
#define LANES (UINT64_C(0x00ff00ff00ff00ff))

/* Return the integer part of b * times / 256; for `times` = 3^n, this is the number that the first
 * n digits of b form. */
static inline uint64_t whole(uint64_t lanes, unsigned times)
{
    return lanes * times >> 8 & LANES;
}

/* Return the first four digits t of a byte, as 64 t0 + 16 t1 + 4 t2 + t3. In base 3 they are 27 t0
 * + 9 t1 + 3 t2 + t3; the numbers without the last digits (9 t0 + 3 t1 + t2, 3 t0 + t1 and t0),
 * times 1, 4 and 16, make up the difference. */
static inline uint64_t four_digits(uint64_t lanes)
{
    return whole(lanes, 81) + whole(lanes, 27) + 4 * whole(lanes, 9) + 16 * whole(lanes, 3);
}

static inline uint64_t fifth_digit(uint64_t lanes)
{
    return whole(lanes, 243) - 3 * whole(lanes, 81);
}

void unpack_tq2x8_tq1x8_ref(void *restrict y, const void *restrict w, size_t n)
{
    const struct block_tq1x8 *from = w;
    struct block_tq2x8 *to = y;

    for (size_t i = 0; i < n; i++, from++, to++) {
        memcpy(to->d, from->d, sizeof to->d);
        for (size_t b = 0; b < TQ1_DIGITS; b += WORD) {
            uint64_t word = load_word(from->digits + b);

            store_word(to->q + b, four_digits(word & LANES) | four_digits(word >> 8 & LANES) << 8);
        }
        for (size_t b = 0; b < TQ1_FIFTHS; b += WORD) {
            uint64_t fifths = 0;

            for (unsigned j = 0; j < 4; j++) {
                uint64_t word = load_word(from->digits + b + j * TQ1_FIFTHS);

                fifths |= (fifth_digit(word & LANES) | fifth_digit(word >> 8 & LANES) << 8)
                          << 2 * j;
            }
            store_word(to->q + TQ1_DIGITS + b, fifths);
        }
    }
}

void unpack_q2x8_q2px8_ref(void *restrict y, const void *restrict w, size_t n)
{
    const struct block_q2px8 *from = w;
    struct block_q2x8 *to = y;

    for (size_t i = 0; i < n; i++, from++, to++) {
        for (size_t j = 0; j < 4; j++) {
            memcpy(to->d[j], from->d[j / 2], sizeof to->d[j]);
        }
        memcpy(to->q, from->q, sizeof to->q);
    }
}
