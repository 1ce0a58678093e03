/* Puts GGML blocks into groups of eight rows: the same numbers in another order. */
#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/quantize.h"
#include "kernels/blocks.h"

static uint16_t block_scale(const uint8_t *block)
{
    if (block == NULL) {
        return 0;
    }
    return (uint16_t)(block[0] | block[1] << 8);
}

void interleave_q8(const uint8_t *const blocks[8], void *group)
{
    struct block_q8x8 *g = group;

    for (size_t r = 0; r < 8; r++) {
        g->d[r] = block_scale(blocks[r]);
        for (size_t c = 0; c < 32; c++) {
            g->q[block_place(r, c)] = blocks[r] != NULL ? (int8_t)blocks[r][2 + c] : 0;
        }
    }
}

void interleave_q4(const uint8_t *const blocks[8], void *group)
{
    struct block_q4x8 *g = group;

    for (size_t r = 0; r < 8; r++) {
        g->d[r] = block_scale(blocks[r]);
        for (size_t c = 0; c < 16; c++) {
            /* A padding row has nibbles of 8 and a scale of 0, each of which makes its values
             * 0. */
            g->q[block_place(r, c)] = blocks[r] != NULL ? blocks[r][2 + c] : 0x88;
        }
    }
}

void interleave_t4(const uint8_t *const blocks[8], void *group)
{
    interleave_q4(blocks, group);
}

/* Interleave the 16 bytes of nibbles of a row, with the low nibbles first, as in Q4_0 and the types
 * after it. */
static void interleave_nibbles(const uint8_t *from, size_t r, uint8_t *q)
{
    for (size_t c = 0; c < 16; c++) {
        q[block_place(r, c)] = from[c];
    }
}

/* GGML stores the fifth bits of 32 columns in order; a byte of the group has the bits of every
 * fourth column. */
static void interleave_fifths(const uint8_t *from, size_t r, uint8_t *high)
{
    for (size_t c = 0; c < 32; c++) {
        uint8_t *to = &high[block_place(r, c % 4)];

        *to = (uint8_t)(*to | (from[c / 8] >> c % 8 & 1) << c / 4);
    }
}

void interleave_q41(const uint8_t *const blocks[8], void *group)
{
    struct block_q41x8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row */
    for (size_t r = 0; r < 8; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = block_scale(b);
        g->m[r] = block_scale(b + 2);
        interleave_nibbles(b + 4, r, g->q);
    }
}

void interleave_q50(const uint8_t *const blocks[8], void *group)
{
    struct block_q50x8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row: q of -16, times scales of 0 */
    for (size_t r = 0; r < 8; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = block_scale(b);
        interleave_fifths(b + 2, r, g->high);
        interleave_nibbles(b + 6, r, g->q);
    }
}

void interleave_q51(const uint8_t *const blocks[8], void *group)
{
    struct block_q51x8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row */
    for (size_t r = 0; r < 8; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = block_scale(b);
        g->m[r] = block_scale(b + 2);
        interleave_fifths(b + 4, r, g->high);
        interleave_nibbles(b + 8, r, g->q);
    }
}

/* Interleave the scales and mins in GGML's 12 bytes of Q4_K or Q5_K; the group stores mins
 * separately. */
static void interleave_scales(const uint8_t *s, size_t r, uint8_t scales[8][8], uint8_t mins[4][8])
{
    for (size_t j = 0; j < 4; j++) {
        unsigned scale = (s[j + 8] & 15u) | (unsigned)s[j] >> 6 << 4;
        unsigned min = (unsigned)s[j + 8] >> 4 | (unsigned)s[j + 4] >> 6 << 4;

        scales[j][r] = (uint8_t)((s[j] & 63) | (s[j + 4] & 3) << 6);
        scales[j + 4][r] = (uint8_t)(scale | (min & 3) << 6);
        mins[j][r] = (uint8_t)((s[j + 4] >> 2 & 15) | min >> 2 << 4);
    }
}

/* Interleave n bytes, 32 at a time, for a type whose group has bytes with the same columns in the
 * same bits as the bytes of GGML's block. */
static void interleave_bytes(const uint8_t *from, size_t n, size_t r, uint8_t *to)
{
    for (size_t i = 0; i < n; i++) {
        to[i / 32 * 256 + block_place(r, i % 32)] = from[i];
    }
}

void interleave_q4k(const uint8_t *const blocks[8], void *group)
{
    struct block_q4kx8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row */
    for (size_t r = 0; r < 8; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = block_scale(b);
        g->dmin[r] = block_scale(b + 2);
        interleave_scales(b + 4, r, g->scales, g->mins);
        interleave_bytes(b + 16, 128, r, g->q);
    }
}

/* GGML's byte has columns c and c + 64; the group's byte has columns c and c + 32. */
static void interleave_low(const uint8_t *low, size_t r, uint8_t *q)
{
    for (size_t i = 0; i < 64; i++) {
        size_t half = i / 32, l = i % 32;
        unsigned first = low[half * 64 + l], second = low[half * 64 + 32 + l];

        q[half * 512 + block_place(r, l)] = (uint8_t)((first & 15) | (second & 15) << 4);
        q[half * 512 + 256 + block_place(r, l)] = (uint8_t)(first >> 4 | second >> 4 << 4);
    }
}

void interleave_q6k(const uint8_t *const blocks[8], void *group)
{
    struct block_q6kx8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row: q of -32, times scales of 0 */
    for (size_t r = 0; r < 8; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = block_scale(b + 208);
        interleave_low(b, r, g->low);
        interleave_bytes(b + 128, 64, r, g->high);
        for (size_t j = 0; j < 16; j++) {
            g->scales[j][r] = (int8_t)b[192 + j];
        }
    }
}

void interleave_q5k(const uint8_t *const blocks[8], void *group)
{
    struct block_q5kx8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row */
    for (size_t r = 0; r < 8; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = block_scale(b);
        g->dmin[r] = block_scale(b + 2);
        interleave_scales(b + 4, r, g->scales, g->mins);
        interleave_bytes(b + 16, 32, r, g->high);
        interleave_bytes(b + 48, 128, r, g->q);
    }
}

void interleave_q3k(const uint8_t *const blocks[8], void *group)
{
    struct block_q3kx8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row */
    for (size_t r = 0; r < 8; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = block_scale(b + 108);
        interleave_bytes(b, 32, r, g->high);
        for (size_t i = 0; i < 32; i++) { /* GGML subtracts 4 if the third bit is 0 */
            g->high[block_place(r, i)] ^= 255;
        }
        interleave_bytes(b + 32, 64, r, g->low);
        for (unsigned j = 0; j < 16; j++) {
            g->scales[j][r] = (int8_t)dequantize_scale_q3k(b + 96, j);
        }
    }
}

void interleave_q2k(const uint8_t *const blocks[8], void *group)
{
    struct block_q2kx8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row */
    for (size_t r = 0; r < 8; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = block_scale(b + 80);
        g->dmin[r] = block_scale(b + 82);
        interleave_bytes(b + 16, 64, r, g->q);
        for (size_t j = 0; j < 16; j++) {
            g->scales[j][r] = b[j];
        }
    }
}
