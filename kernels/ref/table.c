/* References over weights whose nibbles stand for the values of a table: gemv, gemm and rows of W.
 *
 * W in runs of 32 columns: the nibbles of block_q4x8 and a scale for each row. FIG4 differs in
 * where they lie alone: four runs share the scales before them. So a run is all that is told
 * apart here, and both formats have one arithmetic:
 *     acc = fma((float)isum, d * x.d, acc), isum = sum_c values[nibble] x.q, runs ascending.
 * isum is at most 32 * 127 * 128 < 2^19, so that (float)isum is exact. */
#include "kernels/kernels.h"
#include "kernels/ref/dot.h"

/* The scales and the nibbles of 8 rows. */
struct run {
    const uint16_t *d;
    const uint8_t *q;
};

typedef struct run run_of_fn(const void *w, size_t n_runs, size_t group, size_t i);

static struct run run_of_t4(const void *w, size_t n_runs, size_t group, size_t i)
{
    const struct block_q4x8 *block = (const struct block_q4x8 *)w + group * n_runs + i;

    return (struct run){ block->d, block->q };
}

static struct run run_of_fig4(const void *w, size_t n_runs, size_t group, size_t i)
{
    const struct block_fig4x8 *block = (const struct block_fig4x8 *)w + group * (n_runs / 4) +
                                       i / 4;

    return (struct run){ block->d, block->q[i % 4] };
}

static float add_run(float acc, struct run w, const int8_t values[NIBBLES],
                     const struct block_q8 *x, size_t r)
{
    int32_t sum = 0;

    for (size_t c = 0; c < 16; c++) {
        uint8_t byte = w.q[block_place(r, c)];

        sum += values[byte & 15] * x->q[c] + values[byte >> 4] * x->q[c + 16];
    }
    return fmaf((float)sum, f32_from_f16(w.d[r]) * x->d, acc);
}

static void gemv(float *restrict y, const void *w, const struct block_q8 *x, size_t rows,
                 size_t cols, const struct nibble_table *table, run_of_fn *run_of)
{
    for (size_t r = 0; r < rows; r++) {
        y[r] = 0.0f;
        for (size_t i = 0; i < cols / 32; i++) {
            y[r] = add_run(y[r], run_of(w, cols / 32, r / 8, i), table->values, &x[i], r % 8);
        }
    }
}

void gemv_f32_t4x8_q8_ref(float *restrict y, const void *restrict w,
                          const struct block_q8 *restrict x, size_t rows, size_t cols,
                          const struct nibble_table *restrict table)
{
    assert(cols % BLOCK_COLS == 0);
    gemv(y, w, x, rows, cols, table, run_of_t4);
}

void gemv_f32_fig4x8_q8_ref(float *restrict y, const void *restrict w,
                            const struct block_q8 *restrict x, size_t rows, size_t cols,
                            const struct nibble_table *restrict table)
{
    assert(cols % FIG4_COLS == 0);
    gemv(y, w, x, rows, cols, table, run_of_fig4);
}

/* A run of x is taken out of its group of four tokens once for all rows, as in the other gemms. */
static void gemm(float *restrict y, const void *w, const struct block_q8x4 *x,
                 const struct gemm_shape *shape, const struct nibble_table *table,
                 run_of_fn *run_of)
{
    size_t n_runs = shape->cols / 32;

    for (size_t t = 0; t < shape->n_tokens; t++) {
        float *out = y + t * shape->y_stride;

        for (size_t r = 0; r < shape->rows; r++) {
            out[r] = 0.0f;
        }
        for (size_t i = 0; i < n_runs; i++) {
            struct block_q8 token = token_q8(&x[t / 4 * n_runs + i], t % 4);

            for (size_t r = 0; r < shape->rows; r++) {
                struct run run = run_of(w, n_runs, r / 8, i);

                out[r] = add_run(out[r], run, table->values, &token, r % 8);
            }
        }
    }
}

void gemm_f32_t4x8_q8x4_ref(float *restrict y, const void *restrict w,
                            const struct block_q8x4 *restrict x,
                            const struct gemm_shape *restrict shape,
                            const struct nibble_table *restrict table)
{
    assert(shape->cols % BLOCK_COLS == 0);
    gemm(y, w, x, shape, table, run_of_t4);
}

void gemm_f32_fig4x8_q8x4_ref(float *restrict y, const void *restrict w,
                              const struct block_q8x4 *restrict x,
                              const struct gemm_shape *restrict shape,
                              const struct nibble_table *restrict table)
{
    assert(shape->cols % FIG4_COLS == 0);
    gemm(y, w, x, shape, table, run_of_fig4);
}

/* y = d value, one rounding. */
static void dequantize(float *restrict y, const void *w, size_t row, size_t cols,
                       const struct nibble_table *table, run_of_fn *run_of)
{
    for (size_t c = 0; c < cols; c++) {
        struct run run = run_of(w, cols / 32, row / 8, c / 32);
        uint8_t byte = run.q[block_place(row % 8, c % 16)];
        int8_t value = table->values[c % 32 < 16 ? byte & 15 : byte >> 4];

        y[c] = f32_from_f16(run.d[row % 8]) * (float)value;
    }
}

void dequantize_f32_t4x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols,
                             const struct nibble_table *restrict table)
{
    assert(cols % BLOCK_COLS == 0);
    dequantize(y, w, row, cols, table, run_of_t4);
}

void dequantize_f32_fig4x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols,
                               const struct nibble_table *restrict table)
{
    assert(cols % FIG4_COLS == 0);
    dequantize(y, w, row, cols, table, run_of_fig4);
}
