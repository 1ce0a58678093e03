/* What int8 activations cost: a quantized gemv is no further from W x in double precision than
 * dequantizing the same weights and multiplying them by the same int8 activations is. */
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

/* Bell-shaped, and every 61st value ten times as large, as activations have it. */
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

/* Normalized mean square error of y, and of the weights by the int8 activations, both against the
 * weights by x. */
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
       "%s: NMSE %.3e, dequantize-and-multiply %.3e", type, kernel / total, plain / total);
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

TEST(q8_0, gemv_f32_q8x8_q8, dequantize_f32_q8x8, q8, q8x8, 8)
TEST(q4_0, gemv_f32_q4x8_q8, dequantize_f32_q4x8, q8, q4x8, 8)
TEST(q4_1, gemv_f32_q41x8_q8, dequantize_f32_q41x8, q8, q41x8, 16)
TEST(q5_0, gemv_f32_q50x8_q8, dequantize_f32_q50x8, q8, q50x8, 8)
TEST(q5_1, gemv_f32_q51x8_q8, dequantize_f32_q51x8, q8, q51x8, 16)
TEST(q4_k, gemv_f32_q4kx8_q8k, dequantize_f32_q4kx8, q8k, q4kx8, 16)
TEST(q6_k, gemv_f32_q6kx8_q8k, dequantize_f32_q6kx8, q8k, q6kx8, 8)
TEST(q5_k, gemv_f32_q5kx8_q8k, dequantize_f32_q5kx8, q8k, q5kx8, 16)
TEST(q3_k, gemv_f32_q3kx8_q8k, dequantize_f32_q3kx8, q8k, q3kx8, 8)
TEST(q2_k, gemv_f32_q2kx8_q8k, dequantize_f32_q2kx8, q8k, q2kx8, 16)
TEST(tq2_0, gemv_f32_tq2x8_q8k, dequantize_f32_tq2x8, q8k, tq2x8, 8)
TEST(q2_0, gemv_f32_q2x8_q8k, dequantize_f32_q2x8, q8k, q2x8, 32)
TEST(q1_0, gemv_f32_q1x8_q8k, dequantize_f32_q1x8, q8k, q1x8, 16)

int main(void)
{
    fill_activations();
    test_q8_0();
    test_q4_0();
    test_q4_1();
    test_q5_0();
    test_q5_1();
    test_q4_k();
    test_q6_k();
    test_q5_k();
    test_q3_k();
    test_q2_k();
    test_tq2_0();
    test_q2_0();
    test_q1_0();
    return tap_done();
}
