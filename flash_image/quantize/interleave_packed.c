/* Puts GGML blocks into groups of eight rows of the same size: the types of TYPE_PACKED. */
#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/quantize.h"
#include "flash_image/quantize/requantize.h"
#include "kernels/blocks.h"
#include "kernels/ref/scalar.h"

/* Put the 6 bits of sub-block j (of n) where kernels/ref/unpack.c reads them. */
static void put_six_bits(unsigned bits, unsigned n, unsigned j, size_t r,
                         uint8_t (*low)[GROUP_ROWS], uint8_t (*high)[GROUP_ROWS])
{
    uint8_t *four = &low[j % (n / 2)][r], *two = &high[j % (n / 4)][r];

    *four = (uint8_t)(*four | (bits & 15) << 4 * (j / (n / 2)));
    *two = (uint8_t)(*two | bits >> 4 << 2 * (j / (n / 4)));
}

/* All bytes are as in Q3_K, except the scales. A padding row's scales are -32, but its d is 0. */
void interleave_q3kp(const uint8_t *const blocks[8], void *group)
{
    struct block_q3kpx8 *g = group;
    struct block_q3kx8 wide;

    interleave_q3k(blocks, &wide);
    memset(g, 0, sizeof *g);
    memcpy(g->d, wide.d, sizeof g->d);
    memcpy(g->low, wide.low, sizeof g->low);
    memcpy(g->high, wide.high, sizeof g->high);
    for (size_t r = 0; r < GROUP_ROWS; r++) {
        for (unsigned j = 0; j < 16 && blocks[r] != NULL; j++) {
            put_six_bits((unsigned)(wide.scales[j][r] + 32), 16, j, r, g->scales_low,
                         g->scales_high);
        }
    }
}

/* Return the code of the power 2^(byte - 128), which fits fp16 (mxfp4_block_fits in
 * pack_own_type.c); 0 for a block of zeros, in which the power does not matter. */
static uint8_t power_code(const uint8_t *block)
{
    for (size_t i = 1; i < 17; i++) {
        if ((block[i] & 0x77) != 0) {
            return (uint8_t)(block[0] - 103);
        }
    }
    return 0;
}

void interleave_mx4p(const uint8_t *const blocks[8], void *group)
{
    struct block_mx4px8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row */
    for (size_t r = 0; r < GROUP_ROWS; r++) {
        if (blocks[r] == NULL) {
            continue;
        }
        g->e[r] = power_code(blocks[r]);
        for (size_t c = 0; c < 16; c++) {
            g->q[block_place(r, c)] = blocks[r][1 + c];
        }
    }
}

void interleave_iq4xs(const uint8_t *const blocks[8], void *group)
{
    struct block_iq4xsx8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row, whose d is 0 */
    for (size_t r = 0; r < GROUP_ROWS; r++) {
        const uint8_t *b = blocks[r];

        if (b == NULL) {
            continue;
        }
        g->d[r] = load_u16(b);
        for (unsigned j = 0; j < 8; j++) {
            unsigned low = (unsigned)b[4 + j / 2] >> j % 2 * 4 & 15,
                     high = (unsigned)load_u16(b + 2) >> 2 * j & 3;

            put_six_bits(low | high << 4, 8, j, r, g->scales_low, g->scales_high);
            for (size_t c = 0; c < 16; c++) {
                g->q[j][block_place(r, c)] = b[8 + 16 * j + c];
            }
        }
    }
}

/* Add the value of a digit, which is bit pair number `pair` of byte `at` of block_tq2x8. */
static void put_digit(uint8_t *sums, size_t at, size_t pair, int digit)
{
    static const uint8_t counts[5] = { 81, 27, 9, 3, 1 };
    size_t n = 3 - pair;

    if (at >= TQ1_DIGITS) {
        at = at - TQ1_DIGITS + pair * TQ1_FIFTHS;
        n = 4;
    }
    sums[at] = (uint8_t)(sums[at] + digit * counts[n]);
}

/* A byte of TQ2_0 has columns c, c + 64, c + 128 and c + 192 of a row. */
void interleave_tq1(const uint8_t *const blocks[8], void *group)
{
    struct block_tq1x8 *g = group;
    uint8_t sums[TQ1_DIGITS] = { 0 };

    for (size_t r = 0; r < GROUP_ROWS; r++) {
        g->d[r] = blocks[r] != NULL ? load_u16(blocks[r] + 52) : 0;
        for (size_t c = 0; c < BLOCK_K_COLS && blocks[r] != NULL; c++) {
            put_digit(sums, block_place(r, c % 64), c / 64,
                      dequantize_trit(blocks[r], (unsigned)c));
        }
    }
    /* The digits become a fraction of 256, rounded up; 3^5 is 243. */
    for (size_t i = 0; i < TQ1_DIGITS; i++) {
        g->digits[i] = (uint8_t)((sums[i] * 256 + 242) / 243);
    }
}

/* Two blocks of 128 columns become four blocks of Q2_0; each pair has one scale. */
void interleave_q2p(const uint8_t *const blocks[8], void *group)
{
    requantize_block_fn *halve = requantize_of(SOURCE_Q2_0_128, INGOT_Q2_0);
    uint8_t space[GROUP_ROWS][4 * 18];
    const uint8_t *rows[GROUP_ROWS];
    struct block_q2px8 *g = group;
    struct block_q2x8 wide;

    for (size_t r = 0; r < GROUP_ROWS; r++) {
        rows[r] = NULL;
        if (blocks[r] != NULL) {
            halve(blocks[r], space[r]);
            halve(blocks[r] + 34, space[r] + 2 * 18);
            rows[r] = space[r];
        }
    }
    interleave_q2(rows, &wide);
    memcpy(g->d[0], wide.d[0], sizeof g->d[0]);
    memcpy(g->d[1], wide.d[2], sizeof g->d[1]);
    memcpy(g->q, wide.q, sizeof g->q);
}
