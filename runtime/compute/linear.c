#include "runtime/compute/linear.h"

#include <assert.h>
#include <string.h>

#include "runtime/image/image.h"

enum { Q8_COLS = 32, K_COLS = 256 };

static void prepare_q8(const struct kernels *k, const struct activations *a,
                       const struct linear_input *in, size_t first, size_t last)
{
    size_t blocks = in->stride / Q8_COLS;

    for (size_t t = first; t < last; t++) {
        k->quantize_q8_f32(a->q8 + t * blocks, in->x + t * in->stride, in->stride);
    }
    if (in->n_tokens > 1 && last > first) {
        k->interleave_q8x4_q8(a->q8x4 + first / LINEAR_GROUP * blocks, a->q8 + first * blocks,
                              last - first, in->stride);
    }
}

static void prepare_q8k(const struct kernels *k, const struct activations *a,
                        const struct linear_input *in, size_t first, size_t last)
{
    size_t blocks = in->stride / K_COLS;

    for (size_t t = first; t < last; t++) {
        k->quantize_q8k_f32(a->q8k + t * blocks, in->x + t * in->stride, in->stride);
    }
    if (in->n_tokens > 1 && last > first) {
        k->interleave_q8kx4_q8k(a->q8kx4 + first / LINEAR_GROUP * blocks, a->q8k + first * blocks,
                                last - first, in->stride);
    }
}

void linear_prepare(const struct kernels *k, const struct activations *a, uint32_t types,
                    const struct linear_input *in, size_t first, size_t last)
{
    if (types & ACTIVATIONS_Q8) {
        prepare_q8(k, a, in, first, last);
    }
    if (types & ACTIVATIONS_Q8K) {
        prepare_q8k(k, a, in, first, last);
    }
}

/* The table of a tensor whose type has one; zeros for others. */
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

static void gemv_table(const struct kernels *k, const struct block_q8 *x,
                       const struct ingot_tensor *w, const void *rows, float *y, size_t n)
{
    struct nibble_table table = table_of(k, w);

    if (w->type == INGOT_FIG4) {
        k->gemv_f32_fig4x8_q8(y, rows, x, n, w->cols_padded, &table);
    } else {
        k->gemv_f32_t4x8_q8(y, rows, x, n, w->cols_padded, &table);
    }
}

static void gemm_table(const struct kernels *k, const struct activations *a,
                       const struct ingot_tensor *w, const void *rows, float *y,
                       const struct gemm_shape *shape)
{
    struct nibble_table table = table_of(k, w);

    if (w->type == INGOT_FIG4) {
        k->gemm_f32_fig4x8_q8x4(y, rows, a->q8x4, shape, &table);
    } else {
        k->gemm_f32_t4x8_q8x4(y, rows, a->q8x4, shape, &table);
    }
}

static void row_table(const struct kernels *k, const struct ingot_tensor *w, float *x,
                      const void *rows, size_t row)
{
    struct nibble_table table = table_of(k, w);

    if (w->type == INGOT_FIG4) {
        k->dequantize_f32_fig4x8(x, rows, row, w->cols_padded, &table);
    } else {
        k->dequantize_f32_t4x8(x, rows, row, w->cols_padded, &table);
    }
}

static void gemv(const struct kernels *k, const struct ingot_tensor *w, const void *rows,
                 const struct vector *v, float *y, size_t n)
{
    const struct block_q8 *q8 = v->q8;
    const struct block_q8k *q8k = v->q8k;
    size_t cols = w->cols_padded;

    switch (w->type) {
    case INGOT_F32: k->gemv_f32_f32_f32(y, rows, v->x, n, cols, k->ahead); return;
    case INGOT_F16: k->gemv_f32_f16_f32(y, rows, v->x, n, cols, k->ahead); return;
    case INGOT_Q8_0: k->gemv_f32_q8x8_q8(y, rows, q8, n, cols, k->ahead); return;
    case INGOT_Q4_0: k->gemv_f32_q4x8_q8(y, rows, q8, n, cols, k->ahead); return;
    case INGOT_Q4_K: k->gemv_f32_q4kx8_q8k(y, rows, q8k, n, cols, k->ahead); return;
    case INGOT_Q6_K: k->gemv_f32_q6kx8_q8k(y, rows, q8k, n, cols, k->ahead); return;
    case INGOT_Q5_K: k->gemv_f32_q5kx8_q8k(y, rows, q8k, n, cols, k->ahead); return;
    case INGOT_Q3_K: k->gemv_f32_q3kx8_q8k(y, rows, q8k, n, cols, k->ahead); return;
    case INGOT_Q2_K: k->gemv_f32_q2kx8_q8k(y, rows, q8k, n, cols, k->ahead); return;
    case INGOT_Q2_0: k->gemv_f32_q2x8_q8k(y, rows, q8k, n, cols, k->ahead); return;
    case INGOT_TQ2_0: k->gemv_f32_tq2x8_q8k(y, rows, q8k, n, cols, k->ahead); return;
    case INGOT_Q1_0: k->gemv_f32_q1x8_q8k(y, rows, q8k, n, cols, k->ahead); return;
    case INGOT_IQ4_NL:
    case INGOT_MXFP4:
    case INGOT_FIG4: gemv_table(k, q8, w, rows, y, n); return;
    default: return;
    }
}

static void gemm(const struct kernels *k, const struct activations *a, const struct ingot_tensor *w,
                 const void *rows, const float *x, float *y, const struct gemm_shape *shape)
{
    switch (w->type) {
    case INGOT_F32: k->gemm_f32_f32_f32(y, rows, x, shape); return;
    case INGOT_F16: k->gemm_f32_f16_f32(y, rows, x, shape); return;
    case INGOT_Q8_0: k->gemm_f32_q8x8_q8x4(y, rows, a->q8x4, shape); return;
    case INGOT_Q4_0: k->gemm_f32_q4x8_q8x4(y, rows, a->q8x4, shape); return;
    case INGOT_Q4_K: k->gemm_f32_q4kx8_q8kx4(y, rows, a->q8kx4, shape); return;
    case INGOT_Q6_K: k->gemm_f32_q6kx8_q8kx4(y, rows, a->q8kx4, shape); return;
    case INGOT_Q5_K: k->gemm_f32_q5kx8_q8kx4(y, rows, a->q8kx4, shape); return;
    case INGOT_Q3_K: k->gemm_f32_q3kx8_q8kx4(y, rows, a->q8kx4, shape); return;
    case INGOT_Q2_K: k->gemm_f32_q2kx8_q8kx4(y, rows, a->q8kx4, shape); return;
    case INGOT_Q2_0: k->gemm_f32_q2x8_q8kx4(y, rows, a->q8kx4, shape); return;
    case INGOT_TQ2_0: k->gemm_f32_tq2x8_q8kx4(y, rows, a->q8kx4, shape); return;
    case INGOT_Q1_0: k->gemm_f32_q1x8_q8kx4(y, rows, a->q8kx4, shape); return;
    case INGOT_IQ4_NL:
    case INGOT_MXFP4:
    case INGOT_FIG4: gemm_table(k, a, w, rows, y, shape); return;
    default: return;
    }
}

void linear_rows(const struct kernels *k, const struct activations *a, const struct ingot_tensor *w,
                 const uint8_t *rows, const struct linear_input *in, float *y, size_t y_stride,
                 size_t first, size_t n)
{
    const void *part = rows + first * image_type_row_bytes(w->type, w->cols_padded);

    if (in->n_tokens == 1) {
        const struct vector v = { in->x, a->q8 + in->first * (in->stride / Q8_COLS),
                                  a->q8k + in->first * (in->stride / K_COLS) };

        gemv(k, w, part, &v, y + first, n);
    } else {
        struct gemm_shape shape = { n, w->cols_padded, in->n_tokens, y_stride, in->stride };

        assert(in->stride == w->cols_padded || w->type <= INGOT_F16);

        gemm(k, a, w, part, in->x, y + first, &shape);
    }
}

void linear_vector(const struct kernels *k, const struct ingot_tensor *w, const void *rows,
                   const float *x, struct block_q8 *blocks, float *y, size_t n)
{
    const struct vector v = { x, blocks, NULL };

    assert((1u << w->type & (1u << INGOT_F32 | 1u << INGOT_F16 | ACTIVATIONS_Q8)) != 0);
    if ((1u << w->type & ACTIVATIONS_Q8) != 0) {
        k->quantize_q8_f32(blocks, x, w->cols_padded);
    }
    gemv(k, w, rows, &v, y, n);
}

void linear_row(const struct kernels *k, const struct ingot_tensor *w, float *x, const void *rows,
                size_t row)
{
    size_t cols = w->cols_padded;

    switch (w->type) {
    case INGOT_F32: memcpy(x, (const float *)rows + row * cols, w->cols * sizeof(float)); return;
    case INGOT_F16: k->convert_f32_f16(x, (const uint16_t *)rows + row * cols, w->cols); return;
    case INGOT_Q8_0: k->dequantize_f32_q8x8(x, rows, row, cols); return;
    case INGOT_Q4_0: k->dequantize_f32_q4x8(x, rows, row, cols); return;
    case INGOT_Q4_K: k->dequantize_f32_q4kx8(x, rows, row, cols); return;
    case INGOT_Q6_K: k->dequantize_f32_q6kx8(x, rows, row, cols); return;
    case INGOT_Q5_K: k->dequantize_f32_q5kx8(x, rows, row, cols); return;
    case INGOT_Q3_K: k->dequantize_f32_q3kx8(x, rows, row, cols); return;
    case INGOT_Q2_K: k->dequantize_f32_q2kx8(x, rows, row, cols); return;
    case INGOT_Q2_0: k->dequantize_f32_q2x8(x, rows, row, cols); return;
    case INGOT_TQ2_0: k->dequantize_f32_tq2x8(x, rows, row, cols); return;
    case INGOT_Q1_0: k->dequantize_f32_q1x8(x, rows, row, cols); return;
    case INGOT_IQ4_NL:
    case INGOT_MXFP4:
    case INGOT_FIG4: row_table(k, w, x, rows, row); return;
    default: return;
    }
}
