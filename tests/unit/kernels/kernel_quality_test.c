/* The cost of int8 activations: a quantized gemv is as close to W x in double precision as
 * dequantized weights multiplied by the same int8 activations. */
#include <math.h>

#include "kernels/kernels.h"
#include "kernels/ref/dot.h"
#include "tests/unit/tap.h"

enum { ROWS = 64, COLS = 1024, GROUPS = ROWS / 8 };

static struct {
    _Alignas(64) uint8_t weights[ROWS * COLS * 2];
    float w[ROWS][COLS];
    _Alignas(16) float x[COLS];
    double as_int8[COLS]; /* d * q */
    struct block_q8 q8[COLS / 32];
    _Alignas(16) struct block_q8k q8k[COLS / 256];
    float y[ROWS];
} data;

static double uniform(void)
{
    static uint32_t state = 4711;

    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 16777216.0;
}

/* Bell-shaped numbers, of which every 61st is ten times as large, as in activations. */
static void fill_activations(void)
{
    for (size_t c = 0; c < COLS; c++) {
        double sum = 0;

        for (int i = 0; i < 12; i++) {
            sum += uniform();
        }
        data.x[c] = (float)((sum - 6.0) * (c % 61 == 0 ? 10.0 : 1.0));
    }
    quantize_q8_f32_ref(data.q8, data.x, COLS);
    quantize_q8k_f32_ref(data.q8k, data.x, COLS);
}

/* Any bytes are weights; the n_scales fp16 at the start of a group are between 2^-7 and 2^-5. */
static void fill_weights(size_t group_bytes, size_t n_scales)
{
    for (size_t i = 0; i < sizeof data.weights; i++) {
        data.weights[i] = (uint8_t)(uniform() * 256.0);
    }
    for (size_t at = 0; at + group_bytes <= sizeof data.weights; at += group_bytes) {
        for (size_t i = 0; i < n_scales; i++) {
            data.weights[at + 2 * i + 1] = (uint8_t)(0x20 + (data.weights[at + 2 * i + 1] & 7));
        }
    }
}

/* Returns the normalized mean square errors of y, and of the weights by the int8 activations, both
 * against the weights by x. */
static void check(const char *type)
{
    double kernel = 0, plain = 0, total = 0;

    for (size_t r = 0; r < ROWS; r++) {
        double exact = 0, int8 = 0;

        for (size_t c = 0; c < COLS; c++) {
            exact += (double)data.w[r][c] * (double)data.x[c];
            int8 += (double)data.w[r][c] * data.as_int8[c];
        }
        kernel += ((double)data.y[r] - exact) * ((double)data.y[r] - exact);
        plain += (int8 - exact) * (int8 - exact);
        total += exact * exact;
    }
    OK(plain > 0 && kernel <= plain * 1.0001 && kernel / total < 1e-2,
       "%s: the NMSE is %.3e, and %.3e for dequantize-and-multiply", type, kernel / total,
       plain / total);
}

#define TEST(type, gemv, dequantize, activations, block, n_scales) \
    static void test_##type(void) \
    { \
        size_t n = sizeof data.activations[0].q; \
\
        fill_weights(sizeof(struct block_##block), n_scales); \
        for (size_t r = 0; r < ROWS; r++) { \
            dequantize##_ref(data.w[r], data.weights, r, COLS); \
        } \
        for (size_t c = 0; c < COLS; c++) { \
            data.as_int8[c] = (double)data.activations[c / n].d * \
                              (double)data.activations[c / n].q[c % n]; \
        } \
        gemv##_ref(data.y, data.weights, data.activations, ROWS, COLS, 0); \
        check(#type); \
    }

#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, ...) \
    TEST(name, gemv_f32_##layout##x8_##act, dequantize_f32_##layout##x8, act, layout##x8, halves)
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"

int main(void)
{
    fill_activations();
#define TYPE_WEIGHTS(NAME, id, name, ...) test_##name();
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"
    return tap_done();
}
