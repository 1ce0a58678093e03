#include "runtime/compute/linear.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/packed.h"
#include "runtime/image/image.h"

enum { Q8_COLS = 32, K_COLS = 256 };
enum { ROW_GROUP = 8, CACHED_BYTES = 64 * 1024 };

/* Return the number of blocks of 256 columns in a row; FIG4 may fill only half of the last one. */
static size_t k_blocks(size_t cols)
{
    return (cols + K_COLS - 1) / K_COLS;
}

/* Rows follow each other without gaps, so a last half block is copied to get its zeros. */
static void quantize_q8k(const struct kernels *k, struct block_q8k *blocks, const float *x,
                         size_t cols)
{
    _Alignas(16) float last[K_COLS] = { 0 };
    size_t whole = cols / K_COLS * K_COLS;

    k->quantize_q8k_f32(blocks, x, whole);
    if (whole != cols) {
        memcpy(last, x + whole, (cols - whole) * sizeof *x);
        k->quantize_q8k_f32(blocks + whole / K_COLS, last, K_COLS);
    }
}

static void quantize(const struct kernels *k, const struct activations *a, uint32_t types,
                     const struct linear_input *in, size_t first, size_t last)
{
    for (size_t t = first; t < last; t++) {
        const float *x = in->x + t * in->stride;

        if (types & ACTIVATIONS_Q8) {
            k->quantize_q8_f32(a->q8 + (in->first + t) * (in->stride / Q8_COLS), x, in->stride);
        }
        if (types & ACTIVATIONS_Q8K) {
            quantize_q8k(k, a->q8k + (in->first + t) * k_blocks(in->stride), x, in->stride);
        }
    }
}

void linear_group(const struct kernels *k, const struct activations *a, uint32_t types,
                  const struct linear_input *in, size_t first, size_t last)
{
    size_t q8 = in->stride / Q8_COLS, q8k = k_blocks(in->stride), group = first / LINEAR_GROUP;

    if (in->n_tokens == 1 || last <= first) {
        return;
    }
    if (types & ACTIVATIONS_Q8) {
        k->interleave_q8x4_q8(a->q8x4 + group * q8, a->q8 + first * q8, last - first, in->stride);
    }
    if (types & ACTIVATIONS_Q8K) {
        k->interleave_q8kx4_q8k(a->q8kx4 + group * q8k, a->q8k + first * q8k, last - first,
                                q8k * K_COLS);
    }
}

void linear_prepare(const struct kernels *k, const struct activations *a, uint32_t types,
                    const struct linear_input *in, size_t first, size_t last)
{
    quantize(k, a, types, in, first, last);
    linear_group(k, a, types, in, first, last);
}

void linear_keep(const struct activations *a, uint32_t types, size_t first, size_t last)
{
    size_t q8 = a->dim_stride / Q8_COLS, q8k = k_blocks(a->dim_stride), n = last - first;

    if (types & ACTIVATIONS_Q8) {
        memcpy(a->kept_q8 + first * q8, a->q8 + first * q8, n * q8 * sizeof *a->q8);
    }
    if (types & ACTIVATIONS_Q8K) {
        memcpy(a->kept_q8k + first * q8k, a->q8k + first * q8k, n * q8k * sizeof *a->q8k);
    }
}

void linear_take(const struct activations *a, uint32_t types, size_t row, size_t token)
{
    size_t q8 = a->dim_stride / Q8_COLS, q8k = k_blocks(a->dim_stride);

    if (types & ACTIVATIONS_Q8) {
        memcpy(a->q8 + row * q8, a->kept_q8 + token * q8, q8 * sizeof *a->q8);
    }
    if (types & ACTIVATIONS_Q8K) {
        memcpy(a->q8k + row * q8k, a->kept_q8k + token * q8k, q8k * sizeof *a->q8k);
    }
}

/* Return the table of a tensor if its type has one; zeros for other types. */
static struct nibble_table table_of(const struct kernels *k, const struct ingot_tensor *w)
{
    struct nibble_table table = { .ahead = k->ahead };
    const int8_t *values = image_tensor_values(w);

    if (values != NULL) {
        memcpy(table.values, values, sizeof table.values);
    }
    return table;
}

/* One token's input in the forms that matrices take. */
struct vector {
    const float *x;
    const struct block_q8 *q8;
    const struct block_q8k *q8k;
};

static void gemv_table(const struct kernels *k, const struct ingot_tensor *w, const void *rows,
                       const struct vector *v, float *y, size_t n)
{
    struct nibble_table table = table_of(k, w);

    switch (w->type) {
#define TYPE_TABLED(NAME, id, name, layout, cols, act, ...) \
    case INGOT_##NAME: \
        k->gemv_f32_##layout##x8_##act(y, rows, v->act, n, w->cols_padded, &table); \
        return;
#include "flash_image/format/types.def"
    default: return;
    }
}

static void gemm_table(const struct kernels *k, const struct activations *a,
                       const struct ingot_tensor *w, const void *rows, float *y,
                       const struct gemm_shape *shape)
{
    struct nibble_table table = table_of(k, w);

    switch (w->type) {
#define TYPE_TABLED(NAME, id, name, layout, cols, act, ...) \
    case INGOT_##NAME: \
        k->gemm_f32_##layout##x8_##act##x4(y, rows, a->act##x4, shape, &table); \
        return;
#include "flash_image/format/types.def"
    default: return;
    }
}

static void row_table(const struct kernels *k, const struct ingot_tensor *w, float *x,
                      const void *rows, size_t row)
{
    struct nibble_table table = table_of(k, w);

    switch (w->type) {
#define TYPE_TABLED(NAME, id, name, layout, ...) \
    case INGOT_##NAME: \
        k->dequantize_f32_##layout##x8(x, rows, row, w->cols_padded, &table); \
        return;
#include "flash_image/format/types.def"
    default: return;
    }
}

static void gemv(const struct kernels *k, const struct ingot_tensor *w, const void *rows,
                 const struct vector *v, float *y, size_t n)
{
    switch (w->type) {
#define TYPE_FLOATS(NAME, id, name, ...) \
    case INGOT_##NAME: \
        k->gemv_f32_##name##_f32(y, rows, v->x, n, w->cols_padded, k->ahead); \
        return;
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) \
    case INGOT_##NAME: \
        k->gemv_f32_##layout##x8_##act(y, rows, v->act, n, w->cols_padded, k->ahead); \
        return;
#define TYPE_TABLED(NAME, ...) \
    case INGOT_##NAME: \
        gemv_table(k, w, rows, v, y, n); \
        return;
#include "flash_image/format/types.def"
    default: return;
    }
}

static void gemm(const struct kernels *k, const struct activations *a, const struct ingot_tensor *w,
                 const void *rows, const float *x, float *y, const struct gemm_shape *shape)
{
    switch (w->type) {
#define TYPE_FLOATS(NAME, id, name, ...) \
    case INGOT_##NAME: \
        k->gemm_f32_##name##_f32(y, rows, x, shape); \
        return;
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) \
    case INGOT_##NAME: \
        k->gemm_f32_##layout##x8_##act##x4(y, rows, a->act##x4, shape); \
        return;
#define TYPE_TABLED(NAME, ...) \
    case INGOT_##NAME: \
        gemm_table(k, a, w, rows, y, shape); \
        return;
#include "flash_image/format/types.def"
    default: return;
    }
}

static struct vector vector_of(const struct activations *a, const struct linear_input *in,
                               size_t token)
{
    struct vector v = { in->x + token * in->stride, NULL, NULL };

    if (a->q8 != NULL) {
        v.q8 = a->q8 + (in->first + token) * (in->stride / Q8_COLS);
    }
    if (a->q8k != NULL) {
        v.q8k = a->q8k + (in->first + token) * k_blocks(in->stride);
    }
    return v;
}

/* Return true if the gemm of this type has loops for two and three tokens (kernels.h). */
static bool has_pair(const struct kernels *k, uint8_t type)
{
    return k->gemm_pairs && (type == INGOT_Q4_0 || type == INGOT_Q8_0);
}

/* Return how many tokens are left after a gemm has computed the others. A gemm would need as much
 * time for one token as for four, and a gemv needs half of that or less, so one token goes through
 * gemv, except if the gemm takes two tokens at a time. If gemms have loops for two and three
 * tokens, the last two use them, but the last three only if there are fewer than eight in all:
 * after eight, the gemm's own loop is as fast. Two tokens of a type without loops take two gemvs,
 * except for Q6_K, whose gemv is expensive. Without loops for two and three tokens, as on RISC-V
 * without vectors, two tokens go through two gemvs, alone or after others
 * (docs/experiments/two-to-eight-tokens.md). */
static size_t left_over(const struct kernels *k, uint8_t type, size_t n_tokens)
{
    size_t left = k->gemm_tokens > 2 ? n_tokens % k->gemm_tokens : 0;

    if (n_tokens == 1 || left == 1) {
        return 1;
    }
    if (!k->gemv_pairs || type <= INGOT_F16) {
        return 0;
    }
    if (!k->gemm_pairs) {
        return left == 2 ? left : 0;
    }
    if (type == INGOT_Q6_K) {
        return 0;
    }
    if (!has_pair(k, type)) {
        return n_tokens == 2 ? left : 0;
    }
    return left == 2 || n_tokens < 8 ? left : 0;
}

/* Multiply `n` tokens, 2 or 3, from `first` on, in one group of activations. */
static void multiply_few(const struct kernels *k, const struct activations *a,
                         const struct ingot_tensor *w, const void *rows,
                         const struct linear_input *in, size_t first, size_t n, float *y,
                         size_t y_stride, size_t n_rows)
{
    const struct block_q8x4 *x = a->q8x4 + first / LINEAR_GROUP * (in->stride / Q8_COLS);
    struct gemm_shape shape = { n_rows, w->cols_padded, n, y_stride, in->stride };

    if (w->type == INGOT_Q8_0) {
        k->gemm_f32_q8x8_q8x4(y, rows, x, &shape);
    } else {
        k->gemm_f32_q4x8_q8x4(y, rows, x, &shape);
    }
}

/* Multiply n rows by all tokens of the input. */
static void multiply(const struct kernels *k, const struct activations *a,
                     const struct ingot_tensor *w, const void *rows, const struct linear_input *in,
                     float *y, size_t y_stride, size_t n)
{
    size_t t = in->n_tokens - left_over(k, w->type, in->n_tokens);

    if (t != 0) {
        struct gemm_shape shape = { n, w->cols_padded, t, y_stride, in->stride };

        gemm(k, a, w, rows, in->x, y, &shape);
    }
    if (in->n_tokens - t >= 2 && has_pair(k, w->type)) {
        multiply_few(k, a, w, rows, in, t, in->n_tokens - t, y + t * y_stride, y_stride, n);
        return;
    }
    for (; t < in->n_tokens; t++) {
        struct vector v = vector_of(a, in, t);

        gemv(k, w, rows, &v, y + t * y_stride, n);
    }
}

/* If several kernels read the same rows, take few enough at a time to keep them in the cache. */
static size_t rows_at_once(const struct kernels *k, const struct linear_input *in, uint8_t type,
                           size_t row_bytes, size_t n)
{
    size_t left = left_over(k, type, in->n_tokens);
    bool alone = left == in->n_tokens && (left == 1 || has_pair(k, type));

    if (left == 0 || alone) {
        return n;
    }
    return max_size(CACHED_BYTES / row_bytes / ROW_GROUP, 1) * ROW_GROUP;
}

void linear_rows(const struct kernels *k, const struct activations *a, const struct ingot_tensor *w,
                 const uint8_t *rows, const struct linear_input *in, float *y, size_t y_stride,
                 size_t first, size_t n)
{
    size_t row_bytes = image_type_row_bytes(w->type, w->cols_padded);
    size_t step = rows_at_once(k, in, w->type, row_bytes, n);

    assert(in->n_tokens == 1 || in->stride == w->cols_padded || w->type <= INGOT_F16);
    for (size_t r = first; r < first + n; r += step) {
        multiply(k, a, w, rows + r * row_bytes, in, y + r, y_stride, min_size(first + n - r, step));
    }
}

static_assert(K_COLS / Q8_COLS * sizeof(struct block_q8) >= sizeof(struct block_q8k),
              "one has room for the other");

void linear_vector(const struct kernels *k, const struct ingot_tensor *w, const void *rows,
                   const float *x, struct block_q8 *blocks, float *y, size_t n)
{
    struct block_q8k *q8k = (void *)blocks;
    const struct vector v = { x, blocks, q8k };

    assert(image_type_suits_head(w->type));
    if ((1u << w->type & ACTIVATIONS_Q8) != 0) {
        k->quantize_q8_f32(blocks, x, w->cols_padded);
    }
    if ((1u << w->type & ACTIVATIONS_Q8K) != 0) {
        k->quantize_q8k_f32(q8k, x, w->cols_padded);
    }
    gemv(k, w, rows, &v, y, n);
}

void linear_wide_row(const struct kernels *k, const struct ingot_tensor *w, float *x,
                     const void *rows, size_t row)
{
    size_t cols = w->cols_padded;

    switch (w->type) {
    case INGOT_F32: memcpy(x, (const float *)rows + row * cols, w->cols * sizeof(float)); return;
    case INGOT_F16: k->convert_f32_f16(x, (const uint16_t *)rows + row * cols, w->cols); return;
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) \
    case INGOT_##NAME: \
        k->dequantize_f32_##layout##x8(x, rows, row, w->cols_padded); \
        return;
#define TYPE_TABLED(NAME, ...) \
    case INGOT_##NAME: \
        row_table(k, w, x, rows, row); \
        return;
#include "flash_image/format/types.def"
    default: return;
    }
}

void linear_row(const struct kernels *k, const struct ingot_tensor *w, float *x, const void *rows,
                size_t row)
{
    if (image_type_is_packed(w->type)) {
        packed_row(k, w, x, rows, row);
    } else {
        linear_wide_row(k, w, x, rows, row);
    }
}
