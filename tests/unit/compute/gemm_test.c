/* The contract's promise for prompts: a gemm gives each token the same bits as a gemv, however many
 * tokens it takes at once. Here the references must keep it; in tests/kernels every kernel must
 * equal its reference. */
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"
#include "tests/unit/tap.h"

enum { ROWS = 19, COLS = 512, TOKENS = 7, STRIDE = 23 };

static struct {
    _Alignas(64) uint8_t weights[(ROWS + 7) / 8 * 8 * COLS * 4];
    _Alignas(16) float x[TOKENS][COLS + 4];
    struct block_q8 q8[TOKENS][COLS / 32];
    struct block_q8x4 q8x4[2][COLS / 32];
    _Alignas(16) struct block_q8k q8k[TOKENS][COLS / 256];
    _Alignas(16) struct block_q8kx4 q8kx4[2][COLS / 256];
    float one_by_one[TOKENS][STRIDE];
    float at_once[TOKENS][STRIDE];
} data;

static uint32_t random_word(void)
{
    static uint32_t state = 12345;

    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Any byte is a weight, but the high bytes of floats keep them ordinary: each group starts with
 * n_floats of float_bytes. */
static void fill_weights(size_t group_bytes, size_t float_bytes, size_t n_floats)
{
    for (size_t i = 0; i < sizeof data.weights; i++) {
        data.weights[i] = (uint8_t)random_word();
    }
    for (size_t at = 0; at + group_bytes <= sizeof data.weights; at += group_bytes) {
        for (size_t i = 1; i <= n_floats; i++) {
            data.weights[at + i * float_bytes - 1] = (uint8_t)(0x30 + random_word() % 16);
        }
    }
}

static void fill_activations(void)
{
    for (size_t t = 0; t < TOKENS; t++) {
        for (size_t c = 0; c < COLS; c++) {
            data.x[t][c] = (float)random_word() * 0x1p-23f - 1.0f;
        }
        quantize_q8_f32_ref(data.q8[t], data.x[t], COLS);
        quantize_q8k_f32_ref(data.q8k[t], data.x[t], COLS);
    }
    interleave_q8x4_q8_ref(data.q8x4[0], data.q8[0], TOKENS, COLS);
    interleave_q8kx4_q8k_ref(data.q8kx4[0], data.q8k[0], TOKENS, COLS);
}

static void compare(const char *name)
{
    size_t wrong = 0;
    size_t zeros = 0;

    for (size_t t = 0; t < TOKENS; t++) {
        for (size_t r = 0; r < STRIDE; r++) {
            wrong += f32_bits(data.one_by_one[t][r]) != f32_bits(data.at_once[t][r]);
            zeros += r < ROWS && data.one_by_one[t][r] == 0.0f;
        }
    }
    OK(wrong == 0 && zeros < TOKENS, "%s equals its gemv for %d tokens of %d rows (%zu differ)",
       name, TOKENS, ROWS, wrong);
}

/* Both results start alike, so that what lies between rows is compared too. */
#define TEST(gemm, gemv, group_bytes, float_bytes, n_floats, x_many, x_of) \
    static void test_##gemm(void) \
    { \
        struct gemm_shape shape = { ROWS, COLS, TOKENS, STRIDE, COLS + 4 }; \
\
        fill_weights(group_bytes, float_bytes, n_floats); \
        memset(data.one_by_one, 0x11, sizeof data.one_by_one); \
        memset(data.at_once, 0x11, sizeof data.at_once); \
        gemm##_ref(data.at_once[0], data.weights, x_many, &shape); \
        for (size_t t = 0; t < TOKENS; t++) { \
            gemv##_ref(data.one_by_one[t], data.weights, x_of, ROWS, COLS, 0); \
        } \
        compare(#gemm); \
    }

#define TYPE_FLOATS(NAME, id, name, cols, bytes, ...) \
    TEST(gemm_f32_##name##_f32, gemv_f32_##name##_f32, bytes, bytes, 1, data.x[0], data.x[t])
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, ...) \
    TEST(gemm_f32_##layout##x8_##act##x4, gemv_f32_##layout##x8_##act, \
         sizeof(struct block_##layout##x8), 2, halves, data.act##x4[0], data.act[t])
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"

int main(void)
{
    fill_activations();
#define TYPE_FLOATS(NAME, id, name, ...) test_gemm_f32_##name##_f32();
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) test_gemm_f32_##layout##x8_##act##x4();
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"
    return tap_done();
}
