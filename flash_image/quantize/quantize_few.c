/* Weights of one or two bits: TQ2_0, Q2_0, Q1_0. */
#include <math.h>
#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize.h"

/* ---- d times -1, 0, 1 or 2, with d of either sign -------------------------------------------- */

enum { MOST = 256, SIZES = 28, ROUNDS = 3 };

static struct fit_sums assign(int32_t *q, const float *w, const float *h, uint16_t half, size_t n)
{
    float inverse = fit_inverse(f32_from_f16(half));

    for (size_t i = 0; i < n; i++) {
        q[i] = fit_nearest(w[i] * inverse, -1, 2);
    }
    return fit_sum(w, h, q, n);
}

/* Return the squared error minus sum h w^2, which is the same for all choices. */
static double relative_error(const struct fit_sums *s, uint16_t half)
{
    double d = (double)f32_from_f16(half);

    return d * (d * (double)s->qq - 2 * (double)s->xq);
}

static float largest(const float *w, size_t n)
{
    float most = 0;

    for (size_t i = 0; i < n; i++) {
        most = fit_at_least(fabsf(w[i]), most);
    }
    return most;
}

/* Try scales of both signs and all sizes that do not make all weights 0, each followed by steps of
 * least squares. Return the scale with the least error. */
static uint16_t search(const float *w, const float *h, float most, size_t n)
{
    uint16_t found = 0;
    double best = 0;

    for (int i = 0; i < 2 * SIZES; i++) {
        /* Steps go from a small fraction of the largest weight to that weight. */
        float step = most * (float)(i / 2 + 4) / (float)(SIZES + 4);
        uint16_t half = f16_from_f32(i % 2 == 0 ? step : -step);

        for (int round = 0; round < ROUNDS; round++) {
            int32_t q[MOST];
            struct fit_sums s = assign(q, w, h, half, n);
            double error = relative_error(&s, half);

            if (error < best) {
                best = error;
                found = half;
            }
            /* Compute the best scale for these q, then q again. */
            half = f16_from_f32(fit_step(&s));
        }
    }
    return found;
}

static bool fit_two(int32_t *q, const float *w, const float *h, size_t n, uint8_t *scale)
{
    float most = largest(w, n);
    uint16_t half;

    if (most > FIT_F16_MOST) {
        return false;
    }
    /* search() measures errors with the stored, rounded scale. */
    half = search(w, h, most, n);
    assign(q, w, h, half, n);
    fit_store_f16(scale, half);
    return true;
}

/* The block: u8 q[64], fp16 d; d times -1, 0 or 1. */
bool quantize_block_tq2(const float *w, const float *h, uint8_t *block)
{
    int32_t q[256];

    memset(block, 0, 64);
    if (!fit_two(q, w, h, 256, block + 64)) {
        return false;
    }
    for (size_t i = 0; i < 256; i++) {
        uint8_t *byte = block + i / 128 * 32 + i % 32;

        *byte = (uint8_t)(*byte | (q[i] + 1) << i % 128 / 32 * 2);
    }
    return true;
}

/* The block: fp16 d, u8 q[16]; d times -1, 0, 1 or 2. */
bool quantize_block_q2(const float *w, const float *h, uint8_t *block)
{
    int32_t q[64];

    memset(block + 2, 0, 16);
    if (!fit_two(q, w, h, 64, block)) {
        return false;
    }
    for (size_t i = 0; i < 64; i++) {
        block[2 + i / 4] = (uint8_t)(block[2 + i / 4] | (q[i] + 1) << i % 4 * 2);
    }
    return true;
}

/* ---- d or -d: the mean of |w| has the least squared error ------------------------------------ */

/* The block: fp16 d, u8 q[16]; d or -d. */
bool quantize_block_q1(const float *w, const float *h, uint8_t *block)
{
    double sum = 0, all = 0;

    memset(block + 2, 0, 16);
    for (size_t i = 0; i < 128; i++) {
        /* The scale with the least squared error is the weighted mean of the magnitudes. */
        sum += (double)h[i] * fabs((double)w[i]);
        all += (double)h[i];
        block[2 + i / 8] = (uint8_t)(block[2 + i / 8] | (w[i] >= 0) << i % 8);
    }
    if (sum > all * (double)FIT_F16_MOST) {
        return false;
    }
    fit_store_f16(block, f16_from_f32((float)(sum / all)));
    return true;
}

/* ---- groups of eight rows: kernels/blocks.h ---------------------------------------------------- */

static uint16_t scale_of(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

/* Bytes of a padding row stay 0, and so does its scale. */
static void put_two(uint8_t *q, size_t r, size_t c, int two)
{
    uint8_t *byte = q + block_place(r, c % 64);

    *byte = (uint8_t)(*byte | two << c / 64 * 2);
}

void interleave_tq2(const uint8_t *const blocks[8], void *group)
{
    struct block_tq2x8 *g = group;

    memset(g, 0, sizeof *g);
    for (size_t r = 0; r < 8; r++) {
        if (blocks[r] == NULL) {
            continue;
        }
        g->d[r] = scale_of(blocks[r] + 64);
        for (unsigned c = 0; c < 256; c++) {
            put_two(g->q, r, c, dequantize_two(blocks[r], c));
        }
    }
}

void interleave_q2(const uint8_t *const blocks[8], void *group)
{
    struct block_q2x8 *g = group;

    memset(g, 0, sizeof *g);
    for (size_t r = 0; r < 8; r++) {
        for (size_t c = 0; blocks[r] != NULL && c < 256; c++) {
            const uint8_t *block = blocks[r] + c / 64 * 18;

            g->d[c / 64][r] = scale_of(block);
            put_two(g->q, r, c, block[2 + c % 64 / 4] >> c % 4 * 2 & 3);
        }
    }
}

void interleave_q1(const uint8_t *const blocks[8], void *group)
{
    struct block_q1x8 *g = group;

    memset(g, 0, sizeof *g);
    for (size_t r = 0; r < 8; r++) {
        for (size_t c = 0; blocks[r] != NULL && c < 256; c++) {
            const uint8_t *block = blocks[r] + c / 128 * 18;
            uint8_t *byte = g->q + block_place(r, c % 32);

            g->d[c / 128][r] = scale_of(block);
            *byte = (uint8_t)(*byte | (block[2 + c % 128 / 8] >> c % 8 & 1) << c / 32);
        }
    }
}
