/* Blocks of one and two bits: the error against every possible scale, and against the plain rule;
 * the kernels read what the quantizers wrote. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize.h"
#include "kernels/kernels.h"
#include "tests/unit/tap.h"

enum { ROUNDS = 40, SCALES = 4000 };

static uint32_t seed = 7;

static float uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int32_t)seed * 0x1p-31f;
}

/* Roughly Gaussian, as weights are, with one outlier in some blocks. */
static void draw(float *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        w[i] = 0.02f * (uniform() + uniform() + uniform() + uniform());
    }
    if (seed >> 30 == 0) {
        w[seed % n] *= 4;
    }
}

static double error_of(const float *w, const float *h, const float *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += (double)h[i] * ((double)v[i] - (double)w[i]) * ((double)v[i] - (double)w[i]);
    }
    return sum;
}

/* Returns the least error of d times least .. 2, over many d of either sign. */
static double best_of(const float *w, const float *h, size_t n, float most)
{
    double best = INFINITY;

    for (int k = -SCALES; k <= SCALES; k++) {
        float d = most * (float)k / SCALES, v[256];

        for (size_t i = 0; i < n; i++) {
            float q = d != 0 ? fit_at_most(fit_at_least(rintf(w[i] / d), -1), 2) : 0;

            v[i] = d * q;
        }
        best = fmin(best, error_of(w, h, v, n));
    }
    return best;
}

/* Takes the largest element as d, as a reader of the format's name would. */
static double plain_error(const float *w, const float *h, size_t n, float most)
{
    float v[256];

    for (size_t i = 0; i < n; i++) {
        v[i] = most * rintf(w[i] / most);
    }
    return error_of(w, h, v, n);
}

static float largest(const float *w, size_t n)
{
    float most = 0;

    for (size_t i = 0; i < n; i++) {
        most = fit_at_least(fabsf(w[i]), most);
    }
    return most;
}

static void test_two(const char *name, quantize_block_fn *quantize, enum source_type type, size_t n)
{
    double ours = 0, best = 0, plain = 0, squares = 0;

    for (int round = 0; round < ROUNDS; round++) {
        float w[256], h[256], v[256];
        uint8_t block[256];

        draw(w, n);
        for (size_t i = 0; i < n; i++) {
            h[i] = round % 2 == 0 ? 1 : 1 + 0.9f * uniform();
        }
        if (!quantize(w, h, block)) {
            continue;
        }
        dequantize_of(type)(block, v);
        ours += error_of(w, h, v, n);
        best += best_of(w, h, n, largest(w, n));
        plain += plain_error(w, h, n, largest(w, n));
        squares += error_of(w, h, (const float[256]){ 0 }, n);
    }
    OK(ours < 1.01 * best && ours < 0.5 * plain,
       "%s: the error is NMSE %.4f, %.4f with the best scale, %.4f with the largest element", name,
       ours / squares, best / squares, plain / squares);
}

/* The least error of d and -d is sum h w^2 - (sum h |w|)^2 / sum h. */
static void test_one(void)
{
    double ours = 0, best = 0;

    for (int round = 0; round < ROUNDS; round++) {
        float w[128], h[128], v[128];
        uint8_t block[18];
        double sum = 0, squares = 0, all = 0;

        draw(w, 128);
        for (size_t i = 0; i < 128; i++) {
            h[i] = round % 2 == 0 ? 1 : w[i] * w[i];
            sum += (double)h[i] * fabs((double)w[i]);
            squares += (double)h[i] * (double)w[i] * (double)w[i];
            all += (double)h[i];
        }
        if (quantize_block_q1(w, h, block)) {
            dequantize_of(SOURCE_Q1_0)(block, v);
            ours += error_of(w, h, v, 128) / all;
            best += (squares - sum * sum / all) / all;
        }
    }
    OK(ours > 0 && ours < 1.0001 * best, "Q1_0: the error is the least that there is, %.6f of it",
       ours / best);
}

/* Eight rows, two of them padding, by the blocks and by the kernel. */
static void test_kernel(const char *name, quantize_block_fn *quantize, enum source_type type,
                        size_t several, void (*interleave)(const uint8_t *const[8], void *),
                        dequantize_f32_tq2x8_fn *read)
{
    static uint8_t blocks[8][4 * 66];
    static union {
        struct block_q2x8 largest;
        uint8_t bytes[sizeof(struct block_q2x8)];
    } group;
    const uint8_t *rows[8] = { NULL };
    size_t cols = 256 / several, differ = 0;

    for (size_t r = 0; r < 6; r++) {
        for (size_t i = 0; i < several; i++) {
            float w[256];

            draw(w, cols);
            quantize(w, fit_ones, blocks[r] + i * source_type_bytes(type, cols));
        }
        rows[r] = blocks[r];
    }
    interleave(rows, &group);
    for (size_t r = 0; r < 8; r++) {
        float exact[256] = { 0 }, ours[256];

        for (size_t i = 0; r < 6 && i < several; i++) {
            dequantize_of(type)(blocks[r] + i * source_type_bytes(type, cols), exact + i * cols);
        }
        read(ours, &group, r, 256);
        for (size_t c = 0; c < 256; c++) {
            differ += ours[c] != exact[c];
        }
    }
    OK(differ == 0, "%s: the kernel reads what was written, and zeros in rows of padding", name);
}

static void test_extremes(void)
{
    static float w[256];
    uint8_t block[66];
    float v[256];
    bool zero = true;

    quantize_block_tq2(w, fit_ones, block);
    dequantize_of(SOURCE_TQ2_0)(block, v);
    for (size_t i = 0; i < 256; i++) {
        zero = zero && v[i] == 0;
    }
    OK(zero, "zeros stay zeros");
    w[3] = 1e5f;
    OK(!quantize_block_tq2(w, fit_ones, block) && !quantize_block_q2(w, fit_ones, block),
       "a weight beyond fp16 is refused");
    for (size_t i = 0; i < 256; i++) {
        w[i] = 1e5f;
    }
    OK(!quantize_block_q1(w, fit_ones, block), "a mean beyond fp16 is refused");
}

int main(void)
{
    test_two("TQ2_0", quantize_block_tq2, SOURCE_TQ2_0, 256);
    test_two("Q2_0", quantize_block_q2, SOURCE_Q2_0, 64);
    test_one();
    test_kernel("TQ2_0", quantize_block_tq2, SOURCE_TQ2_0, 1, interleave_tq2,
                dequantize_f32_tq2x8_ref);
    test_kernel("Q2_0", quantize_block_q2, SOURCE_Q2_0, 4, interleave_q2, dequantize_f32_q2x8_ref);
    test_kernel("Q1_0", quantize_block_q1, SOURCE_Q1_0, 2, interleave_q1, dequantize_f32_q1x8_ref);
    test_extremes();
    return tap_done();
}
