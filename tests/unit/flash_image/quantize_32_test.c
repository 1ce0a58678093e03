/* Q4_1, Q5_0 and Q5_1: blocks of GGUF files keep every value in groups of eight rows, quantization
 * against GGML's plain rule, and FORMAT.md's worked example. */
#include <math.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize.h"
#include "flash_image/source/source.h"
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static const struct type {
    const char *name;
    enum source_type source;
    size_t bytes, group_bytes, quants;
    bool has_min;
    int most; /* of q */
    quantize_block_fn *quantize;
    void (*interleave)(const uint8_t *const blocks[8], void *group);
    void (*dequantize)(float *restrict y, const void *restrict w, size_t row, size_t cols);
} types[] = {
    { "Q4_1", SOURCE_Q4_1, 20, 160, 4, true, 15, quantize_block_q41, interleave_q41,
      dequantize_f32_q41x8_ref },
    { "Q5_0", SOURCE_Q5_0, 22, 176, 6, false, 31, quantize_block_q50, interleave_q50,
      dequantize_f32_q50x8_ref },
    { "Q5_1", SOURCE_Q5_1, 24, 192, 8, true, 31, quantize_block_q51, interleave_q51,
      dequantize_f32_q51x8_ref },
};
enum { N_TYPES = sizeof types / sizeof types[0], MOST_BYTES = 24, MOST_GROUP = 192 };

/* Returns q of element i of a GGML block, by the layout in GGUF's documentation. */
static int q_of(const struct type *t, const uint8_t *block, size_t i)
{
    int nibble = block[t->quants + i % 16] >> (i < 16 ? 0 : 4) & 15;

    if (t->most == 31) {
        nibble |= (block[t->quants - 4 + i / 8] >> i % 8 & 1) << 4;
    }
    return nibble;
}

static double value_of(const struct type *t, const uint8_t *block, size_t i)
{
    double d = (double)load_f16(block);

    if (t->has_min) {
        return d * q_of(t, block, i) + (double)load_f16(block + 2);
    }
    return d * (q_of(t, block, i) - 16);
}

/* Makes random bytes, with scales within 2^-15 .. 2 of either sign. */
static void fill_block(const struct type *t, uint8_t *block, uint32_t *seed)
{
    for (size_t i = 0; i < t->bytes; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        block[i] = (uint8_t)(*seed >> 24);
    }
    block[1] &= 0xbf;
    block[3] = (uint8_t)(t->has_min ? block[3] & 0xbf : block[3]);
}

/* Makes eight rows of random blocks; the last is padding. */
static void test_values(const struct type *t)
{
    static _Alignas(16) uint8_t group[MOST_GROUP];
    uint32_t seed = 7;
    bool same = true, zero = true;

    for (int n = 0; n < 200; n++) {
        uint8_t blocks[8][MOST_BYTES];
        const uint8_t *rows[8];
        float y[32];

        for (size_t r = 0; r < 8; r++) {
            fill_block(t, blocks[r], &seed);
            rows[r] = r < 7 ? blocks[r] : NULL;
        }
        t->interleave(rows, group);
        for (size_t r = 0; r < 7; r++) {
            t->dequantize(y, group, r, 32);
            for (size_t i = 0; i < 32; i++) {
                same = same && y[i] == (float)value_of(t, blocks[r], i);
            }
        }
        t->dequantize(y, group, 7, 32);
        for (size_t i = 0; i < 32; i++) {
            zero = zero && y[i] == 0.0f;
        }
    }
    OK(same, "%s: the values of a GGUF file are kept, each rounded once to a float", t->name);
    OK(zero, "%s: rows of padding are zeros", t->name);
}

/* GGML's own rules, written again: from the least to the largest element; or the largest at -16. */
static void plain_block(const struct type *t, const float *w, uint8_t *block)
{
    float least = w[0], most = w[0], extreme = 0, d, m = 0;
    uint16_t half;

    memset(block, 0, t->bytes);
    for (size_t i = 0; i < 32; i++) {
        least = fminf(least, w[i]);
        most = fmaxf(most, w[i]);
        extreme = fabsf(w[i]) > fabsf(extreme) ? w[i] : extreme;
    }
    d = t->has_min ? (most - least) / (float)t->most : extreme / -16;
    half = f16_from_f32(d);
    memcpy(block, &half, 2);
    if (t->has_min) {
        m = least;
        half = f16_from_f32(m);
        memcpy(block + 2, &half, 2);
    }
    for (size_t i = 0; i < 32; i++) {
        float x = (w[i] - m) * (d != 0 ? 1 / d : 0) + (t->has_min ? 0.5f : 16.5f);
        unsigned q = x < 0 ? 0 : x > (float)t->most ? (unsigned)t->most : (unsigned)x;
        uint8_t *to = block + t->quants + i % 16;

        *to = (uint8_t)(*to | (q & 15) << (i < 16 ? 0 : 4));
        if (t->most == 31) {
            block[t->quants - 4 + i / 8] |= (uint8_t)(q >> 4 << i % 8);
        }
    }
}

static double block_error(const struct type *t, const float *w, const uint8_t *block)
{
    double error = 0;

    for (size_t i = 0; i < 32; i++) {
        double miss = (double)w[i] - value_of(t, block, i);

        error += miss * miss;
    }
    return error;
}

static void test_quantize(const struct type *t)
{
    double plain_sum = 0, sum = 0;
    bool never_worse = true;
    uint32_t seed = 3;

    for (int n = 0; n < 2000; n++) {
        float scale = ldexpf(1.0f, n % 20 - 12), shift = n % 5 == 0 ? 2 * scale : 0;
        uint8_t plain[MOST_BYTES], block[MOST_BYTES];
        float w[32];

        for (size_t i = 0; i < 32; i++) { /* a sum of four is close enough to a bell */
            w[i] = shift + scale * (next_weight(&seed) + next_weight(&seed) + next_weight(&seed) +
                                    next_weight(&seed));
        }
        plain_block(t, w, plain);
        never_worse = t->quantize(w, fit_ones, block) && never_worse &&
                      block_error(t, w, block) <= block_error(t, w, plain) * 1.000001;
        plain_sum += block_error(t, w, plain) / (double)(scale * scale);
        sum += block_error(t, w, block) / (double)(scale * scale);
    }
    OK(never_worse, "no %s block is worse than by the plain rule", t->name);
    OK(sum < 0.93 * plain_sum, "all blocks together are %.0f %% better",
       100 * (1 - sum / plain_sum));
}

static void test_edges(const struct type *t)
{
    uint8_t block[MOST_BYTES];
    float w[32] = { 0 };
    bool zero = t->quantize(w, fit_ones, block), equal;

    for (size_t i = 0; i < 32; i++) {
        zero = zero && value_of(t, block, i) == 0;
        w[i] = 0.75f;
    }
    OK(zero, "%s: zeros stay zeros", t->name);
    equal = t->quantize(w, fit_ones, block);
    for (size_t i = 0; i < 32; i++) {
        equal = equal && fabs(value_of(t, block, i) - 0.75) < 1e-3;
    }
    OK(equal, "%s: equal weights stay equal", t->name);
    w[5] = -3e6f;
    OK(!t->quantize(w, fit_ones, block), "%s: a scale beyond 16 bits is refused", t->name);
}

/* Blocks of values that a type with one bit less has stored, with both ends of its range. Their step is
 * twice as long, and the range has one step less. */
static void test_coarser(const struct type *t)
{
    bool exact = true;
    uint32_t seed = 11;

    for (int n = 0; n < 500; n++) {
        uint8_t block[MOST_BYTES];
        float w[32];

        for (size_t i = 0; i < 32; i++) {
            seed = seed * 1664525u + 1013904223u;
            w[i] = 0.125f * (float)(int)((seed >> 16) % (unsigned)((t->most + 1) / 2)) - 0.75f;
        }
        w[n % 32] = -0.75f;
        w[(n + 7) % 32] = 0.125f * (float)(t->most / 2) - 0.75f;
        exact = t->quantize(w, fit_ones, block) && exact && block_error(t, w, block) == 0;
    }
    OK(exact, "%s keeps values of a type with one bit less", t->name);
}

/* FORMAT.md, 10: element (9, 53) of 64 columns lies in row 1 and column 21 of the fourth block. */
static void test_example(void)
{
    static _Alignas(16) uint8_t w[4 * 192];
    const struct {
        uint16_t d, m;
    } one = { 0x3c00, 0x4000 }; /* 1, 2 */
    float y[64];

    memcpy(w + 3 * 160 + 2, &one.d, 2);
    memcpy(w + 3 * 160 + 18, &one.m, 2);
    w[3 * 160 + 32 + 32 + 4 + 1] = 0x9 << 4;
    dequantize_f32_q41x8_ref(y, w, 9, 64);
    OK(y[53] == 11.0f, "an element of Q4_1 is as in FORMAT.md");
    memset(w, 0, sizeof w);
    memcpy(w + 3 * 192 + 2, &one.d, 2);
    memcpy(w + 3 * 192 + 18, &one.m, 2);
    w[3 * 192 + 32 + 4 + 1] = 1 << 5;
    w[3 * 192 + 64 + 32 + 4 + 1] = 0x9 << 4;
    dequantize_f32_q51x8_ref(y, w, 9, 64);
    OK(y[53] == 27.0f, "an element of Q5_1 is as in FORMAT.md");
    memset(w, 0, sizeof w);
    memcpy(w + 3 * 176 + 2, &one.d, 2);
    w[3 * 176 + 16 + 4 + 1] = 1 << 5;
    w[3 * 176 + 48 + 32 + 4 + 1] = 0x9 << 4;
    dequantize_f32_q50x8_ref(y, w, 9, 64);
    OK(y[53] == 9.0f, "an element of Q5_0 is as in FORMAT.md");
}

int main(void)
{
    for (size_t i = 0; i < N_TYPES; i++) {
        test_values(&types[i]);
        test_quantize(&types[i]);
        test_edges(&types[i]);
        if (types[i].has_min) {
            test_coarser(&types[i]);
        }
    }
    test_example();
    return tap_done();
}
