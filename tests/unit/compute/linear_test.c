/* y = W x gives any number of tokens what each gets alone, whether a gemm takes them by four or by
 * two; also with inputs that were put aside and taken in another order. */
#include "runtime/compute/linear.h"

#include <math.h>
#include <string.h>

#include "runtime/compute/packed.h"
#include "runtime/image/image.h"
#include "tests/unit/tap.h"

enum {
    ROWS = 200,      /* of F32 more than stay in the cache at once */
    MOST_COLS = 384, /* FIG4: half a block of activations over */
    K_BLOCKS = (MOST_COLS + 255) / 256,
    TOKENS = 13,
    STRIDE = ROWS + 3,
};

static _Alignas(64) uint8_t weights[ROWS * MOST_COLS * 4];
static _Alignas(16) float inputs[TOKENS * MOST_COLS], taken[TOKENS * MOST_COLS];
static uint32_t cols; /* of a row of those */
static float alone[TOKENS][STRIDE], together[TOKENS][STRIDE];
static struct block_q8 q8[TOKENS * MOST_COLS / 32], kept_q8[TOKENS * MOST_COLS / 32];
static _Alignas(16) struct block_q8k q8k[TOKENS * K_BLOCKS], kept_q8k[TOKENS * K_BLOCKS];
static _Alignas(16) struct block_q8x4 q8x4[(TOKENS + 3) / 4 * MOST_COLS / 32];
static _Alignas(16) struct block_q8kx4 q8kx4[(TOKENS + 3) / 4 * K_BLOCKS];
static struct activations act = {
    .q8 = q8, .q8x4 = q8x4, .q8k = q8k, .q8kx4 = q8kx4, .kept_q8 = kept_q8, .kept_q8k = kept_q8k
};
static struct kernels kernels;

static uint32_t random_word(void)
{
    static uint32_t state = 2026;

    state = state * 1664525u + 1013904223u;
    return state >> 16; /* the bits below repeat before the weights end */
}

/* Any byte is a weight, but floats, which begin a group of so many bytes, stay ordinary. */
static void fill_weights(size_t group_bytes, size_t float_bytes, size_t n_floats)
{
    for (size_t i = 0; i < sizeof weights; i++) {
        weights[i] = (uint8_t)random_word();
    }
    for (size_t at = 0; at + group_bytes <= sizeof weights; at += group_bytes) {
        for (size_t i = 1; i <= n_floats; i++) {
            weights[at + i * float_bytes - 1] = (uint8_t)(0x30 + random_word() % 16);
        }
    }
}

static void multiply_rows(const struct ingot_tensor *w, const struct linear_input *in, float *y)
{
    static _Alignas(16) uint8_t space[16 << 10];

    if (!image_type_is_packed(w->type)) {
        linear_rows(&kernels, &act, w, weights, in, y, STRIDE, 8, ROWS - 8);
    } else if (packed_space_bytes(1u << w->type, w->cols) <= sizeof space) {
        packed_rows(&kernels, &act, w, weights, in, y, STRIDE, 8, ROWS - 8, space);
    }
}

static void multiply(const struct ingot_tensor *w, const float *x, uint32_t n, float *y)
{
    struct linear_input in = { x, cols, n, 0 };

    linear_prepare(&kernels, &act, 1u << w->type, &in, 0, n);
    multiply_rows(w, &in, y);
}

static void multiply_alone(const struct ingot_tensor *w)
{
    memset(alone, 0x11, sizeof alone);
    for (size_t i = 0; i < TOKENS; i++) {
        multiply(w, inputs + i * cols, 1, alone[i]);
    }
}

/* Rows before the requested ones, and gaps between tokens, are left alone. */
static bool is_same(uint32_t n)
{
    return memcmp(alone, together, n * sizeof alone[0]) == 0;
}

/* Row 8 of the first token by its floats: activations of 8 bits lose less than 2 % of the product of the
 * lengths. */
static void test_near(const struct ingot_tensor *w)
{
    static _Alignas(16) float row[MOST_COLS];
    double dot = 0, w_length = 0, x_length = 0;

    linear_row(&kernels, w, row, weights, 8);
    for (size_t c = 0; c < cols; c++) {
        dot += (double)row[c] * inputs[c];
        w_length += (double)row[c] * row[c];
        x_length += (double)inputs[c] * inputs[c];
    }
    OK(fabs(alone[0][8] - dot) < 0.02 * sqrt(w_length * x_length),
       "type %u, %u columns: %g is near %g by floats", (unsigned)w->type, (unsigned)cols,
       (double)alone[0][8], dot);
}

static void test_counts(const struct ingot_tensor *w, size_t gemm_tokens, bool gemvs, bool pairs)
{
    uint32_t n = 1;

    kernels.gemm_tokens = gemm_tokens;
    kernels.gemv_pairs = gemvs;
    kernels.gemm_pairs = pairs;
    for (; n <= TOKENS; n++) {
        memset(together, 0x11, sizeof together);
        multiply(w, inputs, n, together[0]);
        if (!is_same(n)) {
            break;
        }
    }
    OK(n > TOKENS,
       "type %u, a gemm of %zu tokens%s: each of 1 to %d tokens gets what it gets alone (%u)",
       (unsigned)w->type, gemm_tokens,
       pairs   ? " and of pairs"
       : gemvs ? ", pairs by gemvs"
               : "",
       TOKENS, (unsigned)n);
    kernels.gemv_pairs = kernels.gemm_pairs = false;
}

static size_t gemm_calls, gemm_sum, gemv_calls; /* gemm_sum: of the calls' tokens */

static void count_gemm(float *restrict y, const void *restrict w,
                       const struct block_q8kx4 *restrict x,
                       const struct gemm_shape *restrict shape)
{
    gemm_calls++;
    gemm_sum += shape->n_tokens;
    (void)y, (void)w, (void)x;
}

static void count_gemv(float *restrict y, const void *restrict w,
                       const struct block_q8k *restrict x, size_t rows, size_t n_cols, size_t ahead)
{
    gemv_calls++;
    (void)y, (void)w, (void)x, (void)rows, (void)n_cols, (void)ahead;
}

/* Which kernels take the tokens of Q5_K, whose gemm has no loop for two, on cores of three kinds. */
static void test_choice(void)
{
    static const struct {
        uint32_t n;
        bool gemvs, pairs;
        size_t by_gemm, by_gemv;
    } rows[] = {
        { 2, false, false, 2, 0 }, { 2, true, false, 0, 2 }, { 2, true, true, 0, 2 },
        { 3, true, false, 3, 0 },  { 5, true, false, 4, 1 }, { 6, false, false, 6, 0 },
        { 6, true, false, 4, 2 },  { 6, true, true, 6, 0 },  { 7, true, false, 7, 0 },
        { 8, true, false, 8, 0 },
    };
    struct ingot_tensor w = { .type = INGOT_Q5_K, .rows = 8, .cols = 256, .cols_padded = 256 };
    struct kernels before = kernels;

    kernels.gemm_f32_q5kx8_q8kx4 = count_gemm;
    kernels.gemv_f32_q5kx8_q8k = count_gemv;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct linear_input in = { inputs, 256, rows[i].n, 0 };

        gemm_calls = gemm_sum = gemv_calls = 0;
        kernels.gemv_pairs = rows[i].gemvs;
        kernels.gemm_pairs = rows[i].pairs;
        linear_rows(&kernels, &act, &w, weights, &in, together[0], STRIDE, 0, 8);
        OK(gemm_calls == (rows[i].by_gemm != 0) && gemm_sum == rows[i].by_gemm &&
               gemv_calls == rows[i].by_gemv,
           "%u tokens%s%s: a gemm takes %zu, gemvs take %zu", (unsigned)rows[i].n,
           rows[i].gemvs ? ", pairs by gemvs" : "", rows[i].pairs ? ", loops for pairs" : "",
           gemm_sum, gemv_calls);
    }
    kernels = before;
}

/* All inputs are put aside in two shares, and taken back from the last one, five at a time. */
static void test_kept(const struct ingot_tensor *w)
{
    struct linear_input all = { inputs, cols, TOKENS, 0 }, five = { taken, cols, 5, 0 };
    uint32_t types = 1u << w->type;
    bool same = true;

    linear_prepare(&kernels, &act, types, &all, 0, TOKENS);
    linear_keep(&act, types, 0, 8);
    linear_keep(&act, types, 8, TOKENS);
    for (size_t last = TOKENS; last >= five.n_tokens; last -= five.n_tokens) {
        memset(together, 0x11, sizeof together);
        for (size_t i = 0; i < five.n_tokens; i++) {
            memcpy(taken + i * cols, inputs + (last - 1 - i) * cols, cols * sizeof *taken);
            linear_take(&act, types, i, last - 1 - i);
        }
        linear_group(&kernels, &act, types, &five, 0, 4);
        linear_group(&kernels, &act, types, &five, 4, 5);
        multiply_rows(w, &five, together[0]);
        for (size_t i = 0; i < five.n_tokens; i++) {
            same = same && memcmp(together[i], alone[last - 1 - i], sizeof alone[0]) == 0;
        }
    }
    OK(same, "type %u: inputs that are put aside may be taken in another order", (unsigned)w->type);
}

/* A head computes its rows by itself, also in types with blocks of 256 columns. */
static void test_vector(const struct ingot_tensor *w)
{
    static _Alignas(16) struct block_q8 blocks[MOST_COLS / 32];
    float y[ROWS];

    if (image_type_suits_head(w->type)) {
        linear_vector(&kernels, w, weights, inputs, blocks, y, ROWS);
        OK(memcmp(y + 8, alone[0] + 8, (ROWS - 8) * sizeof *y) == 0,
           "type %u: one vector by itself has the same result", (unsigned)w->type);
    }
}

static void test_type(uint8_t type, uint32_t n_cols, size_t group_bytes, size_t float_bytes,
                      size_t n_floats)
{
    struct ingot_tensor w = { .type = type, .rows = ROWS, .cols = n_cols, .cols_padded = n_cols };

    cols = n_cols;
    act.dim_stride = n_cols;
    for (size_t i = 0; type == INGOT_FIG4 && i < NIBBLES; i++) {
        w.values[i] = (int8_t)(4 * (int)i - 31);
    }
    fill_weights(group_bytes, float_bytes, n_floats);
    kernels.gemm_tokens = 4;
    multiply_alone(&w);
    test_near(&w);
    test_vector(&w);
    test_counts(&w, 4, false, false);
    test_counts(&w, 4, true, false);
    test_counts(&w, 4, true, true);
    test_counts(&w, 2, false, false);
    kernels.gemm_tokens = 4;
    test_kept(&w);
}

int main(void)
{
    kernels_select(&kernels, CPU_ANY);
    OK(kernels.gemm_tokens == 4, "the references take tokens by four");
    for (size_t i = 0; i < TOKENS * MOST_COLS; i++) {
        inputs[i] = (float)random_word() * 0x1p-15f - 1.0f;
    }
    test_choice();
    test_type(INGOT_F32, 256, 4, 4, 1);
#define TYPE_WEIGHTS(NAME, id, name, layout, columns, act, halves, ...) \
    test_type(INGOT_##NAME, 256, sizeof(struct block_##layout##x8), 2, halves);
#define TYPE_PACKED TYPE_WEIGHTS
#include "flash_image/format/types.def"
    test_type(INGOT_MXFP4P, MOST_COLS, sizeof(struct block_mx4px8), 2, 0);
    test_type(INGOT_FIG4, 128, sizeof(struct block_fig4x8), 2, 8);
    test_type(INGOT_FIG4, MOST_COLS, sizeof(struct block_fig4x8), 2, 8);
    return tap_done();
}
