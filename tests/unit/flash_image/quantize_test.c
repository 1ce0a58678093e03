/* Q8_0 and Q4_0: quantization against GGML's plain rule, and FORMAT.md's worked example. */
#include <math.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize.h"
#include "flash_image/source/source.h"
#include "kernels/ref/scalar.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static double block_error(const float *w, const uint8_t *block, bool q4)
{
    double d = (double)load_f16(block);
    double error = 0;

    for (size_t i = 0; i < 32; i++) {
        int q = q4 ? (i < 16 ? block[2 + i] & 15 : block[2 + i - 16] >> 4) - 8
                   : (int8_t)block[2 + i];
        double miss = (double)w[i] - d * q;

        error += miss * miss;
    }
    return error;
}

/* GGML's own rule, written again. */
static void plain_q4(const float *w, uint8_t *block)
{
    float extreme = 0, d, inverse;
    uint16_t half;
    int q[32];

    for (size_t i = 0; i < 32; i++) {
        extreme = fabsf(w[i]) > fabsf(extreme) ? w[i] : extreme;
    }
    d = extreme / -8;
    inverse = d != 0 ? 1 / d : 0;
    half = f16_from_f32(d);
    memcpy(block, &half, 2);
    for (size_t i = 0; i < 32; i++) {
        q[i] = (int)(w[i] * inverse + 8.5f);
        q[i] = q[i] > 15 ? 15 : q[i];
    }
    for (size_t i = 0; i < 16; i++) {
        block[2 + i] = (uint8_t)(q[i] | q[i + 16] << 4);
    }
}

static void test_q4_blocks(void)
{
    double plain_sum = 0, sum = 0;
    bool never_worse = true;
    uint32_t seed = 3;

    for (int n = 0; n < 3000; n++) {
        float scale = ldexpf(1.0f, n % 20 - 12);
        uint8_t plain[18], block[18];
        float w[32];

        for (size_t i = 0; i < 32; i++) { /* a sum of four is close enough to a bell */
            w[i] = scale * (next_weight(&seed) + next_weight(&seed) + next_weight(&seed) +
                            next_weight(&seed));
        }
        plain_q4(w, plain);
        never_worse = quantize_block_q4(w, fit_ones, block) && never_worse &&
                      block_error(w, block, true) <= block_error(w, plain, true) * 1.000001;
        plain_sum += block_error(w, plain, true) / (double)(scale * scale);
        sum += block_error(w, block, true) / (double)(scale * scale);
    }
    OK(never_worse, "no Q4_0 block is worse than by the plain rule");
    OK(sum < 0.9 * plain_sum, "all blocks together are %.0f %% better",
       100 * (1 - sum / plain_sum));
}

/* Returns the least squared error of the nearest q to any of many scales of either sign. */
static double least_q4_error(const float *w)
{
    float extreme = 0;
    double least = 1e30;

    for (size_t i = 0; i < 32; i++) {
        extreme = fmaxf(extreme, fabsf(w[i]));
    }
    for (int n = -3000; n <= 3000; n++) {
        double d = n != 0 ? (double)extreme / (n * 0.005) : 0, error = 0;

        for (size_t i = 0; i < 32; i++) {
            double q = d != 0 ? fmin(fmax(nearbyint((double)w[i] / d), -8), 7) : 0;

            error += ((double)w[i] - d * q) * ((double)w[i] - d * q);
        }
        least = fmin(least, error);
    }
    return least;
}

static void test_q4_least(void)
{
    double worst = 0;
    uint32_t seed = 11;

    for (int n = 0; n < 200; n++) {
        uint8_t block[18];
        float w[32];

        for (size_t i = 0; i < 32; i++) { /* flat, bells, and a few large ones among small ones */
            w[i] = next_weight(&seed);
            w[i] = n % 3 == 0   ? w[i]
                   : n % 3 == 1 ? w[i] + next_weight(&seed) + next_weight(&seed)
                                : w[i] * w[i] * w[i];
        }
        quantize_block_q4(w, fit_ones, block);
        worst = fmax(worst, block_error(w, block, true) / least_q4_error(w));
    }
    OK(worst < 1.002, "no scale has an error that is %.3f %% less than Q4_0's",
       100 * (1 - 1 / worst));
}

/* Takes the largest element / 127, and the nearest number to that. */
static void plain_q8(const float *w, uint8_t *block)
{
    float most = 0;
    uint16_t half;

    for (size_t i = 0; i < 32; i++) {
        most = fmaxf(most, fabsf(w[i]));
    }
    half = f16_from_f32(most / 127);
    memcpy(block, &half, 2);
    for (size_t i = 0; i < 32; i++) {
        double q = nearbyint((double)w[i] / (double)f32_from_f16(half));

        block[2 + i] = (uint8_t)(int8_t)fmin(fmax(q, -127), 127);
    }
}

static void test_q8_blocks(void)
{
    double plain_sum = 0, sum = 0;
    bool near = true, never_worse = true;
    uint32_t seed = 5;
    uint8_t block[34], plain[34];
    float w[32];

    for (int n = 0; n < 3000; n++) {
        double d;

        for (size_t i = 0; i < 32; i++) {
            w[i] = ldexpf(next_weight(&seed), n % 16 - 8);
        }
        near = quantize_block_q8(w, fit_ones, block) && near;
        plain_q8(w, plain);
        never_worse = never_worse &&
                      block_error(w, block, false) <= block_error(w, plain, false) * 1.000001;
        plain_sum += ldexp(block_error(w, plain, false), 16 - 2 * (n % 16));
        sum += ldexp(block_error(w, block, false), 16 - 2 * (n % 16));
        d = (double)load_f16(block);
        for (size_t i = 0; i < 32; i++) {
            int q = (int8_t)block[2 + i];
            double miss = fabs((double)w[i] - d * q);

            near = near && q >= -127 && (miss <= 0.5001 * d || abs(q) == 127);
        }
    }
    OK(near, "every Q8_0 weight is the nearest to its scale as stored");
    OK(never_worse, "no Q8_0 block is worse than by the plain rule");
    OK(sum < 0.97 * plain_sum, "all blocks together are %.1f %% better",
       100 * (1 - sum / plain_sum));
    memset(w, 0, sizeof w);
    OK(quantize_block_q8(w, fit_ones, block) && block_error(w, block, false) == 0,
       "a block of zeros stays zero in Q8_0");
    OK(quantize_block_q4(w, fit_ones, block) && block_error(w, block, true) == 0,
       "a block of zeros stays zero in Q4_0");
    w[3] = 1e9f;
    OK(!quantize_block_q8(w, fit_ones, block) && !quantize_block_q4(w, fit_ones, block),
       "a scale beyond fp16 is refused");
    w[3] = 5e5f;
    OK(quantize_block_q8(w, fit_ones, block) && !quantize_block_q4(w, fit_ones, block),
       "a scale that only nibbles make too large is refused only for them");
}

/* Columns that count a hundred times as much are kept better than without that weight. */
static void test_importance(quantize_block_fn *quantize, enum source_type type, const char *name)
{
    dequantize_block_fn *read = dequantize_of(type);
    uint32_t n = source_type_block(type);
    double with = 0, without = 0;
    uint32_t seed = 9;

    for (int round = 0; round < 300; round++) {
        float w[256], h[256], out[256];
        uint8_t block[256];

        for (uint32_t i = 0; i < n; i++) {
            w[i] = next_weight(&seed) + next_weight(&seed) + next_weight(&seed);
            h[i] = i % 8 == (unsigned)round % 8 ? 100.0f : 1.0f;
        }
        for (int weighed = 0; weighed < 2; weighed++) {
            quantize(w, weighed ? h : fit_ones, block);
            read(block, out);
            for (uint32_t i = 0; i < n; i++) {
                double miss = (double)out[i] - (double)w[i];

                *(weighed ? &with : &without) += (double)h[i] * miss * miss;
            }
        }
    }
    OK(with < 0.95 * without, "%s: importance lowers the weighted error by %.0f %%", name,
       100 * (1 - with / without));
}

/* FORMAT.md's worked example: 10 rows of 40 columns, element (9, 37), and (9, 53) of Q4_0. */
static void test_interleave(void)
{
    struct block_q8x8 q8[2][2];
    struct block_q4x8 q4[2][2];
    uint8_t row8[16][2][34], row4[16][2][18];
    const uint8_t *bytes;
    unsigned padding = 0;

    memset(row8, 0, sizeof row8);
    memset(row4, 0, sizeof row4);
    row8[9][1][0] = 0x34, row8[9][1][1] = 0x12, row8[9][1][2 + 5] = 77;
    row4[9][1][0] = 0x78, row4[9][1][1] = 0x56, row4[9][1][2 + 5] = 0xb3;
    for (size_t g = 0; g < 2; g++) {
        for (size_t b = 0; b < 2; b++) {
            const uint8_t *in8[8], *in4[8];

            for (size_t r = 0; r < 8; r++) {
                in8[r] = 8 * g + r < 10 ? row8[8 * g + r][b] : NULL;
                in4[r] = 8 * g + r < 10 ? row4[8 * g + r][b] : NULL;
            }
            interleave_q8(in8, &q8[g][b]);
            interleave_q4(in4, &q4[g][b]);
        }
    }
    bytes = (const void *)q8;
    OK(sizeof q8 == 1088 && bytes[818] == 0x34 && bytes[819] == 0x12 && bytes[869] == 77,
       "the worked example of FORMAT.md is right for Q8_0");
    bytes = (const void *)q4;
    OK(sizeof q4 == 576 && bytes[434] == 0x78 && bytes[435] == 0x56 && bytes[485] == 0xb3,
       "the worked example of FORMAT.md is right for Q4_0");
    for (size_t r = 2; r < 8; r++) {
        for (size_t c = 0; c < 16; c++) {
            padding += q4[1][0].d[r] != 0 || q4[1][0].q[block_place(r, c)] != 0x88;
        }
    }
    OK(padding == 0, "rows of padding are zeros by nibble and by scale");
}

int main(void)
{
    test_q8_blocks();
    test_importance(quantize_block_q8, SOURCE_Q8_0, "Q8_0");
    test_importance(quantize_block_q4, SOURCE_Q4_0, "Q4_0");
    test_importance(quantize_block_q4k, SOURCE_Q4_K, "Q4_K");
    test_importance(quantize_block_q6k, SOURCE_Q6_K, "Q6_K");
    test_q4_blocks();
    test_q4_least();
    test_interleave();
    return tap_done();
}
