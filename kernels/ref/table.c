/* References for weights whose nibbles are indices into a table of values: gemv, gemm and rows of W.
 *
 * IQ4_NL and MXFP4 have blocks of 32 columns: the nibbles of block_q4x8 and a scale for each row.
 *     acc = fma((float)isum, d * x.d, acc), isum = sum_c values[nibble] x.q, blocks ascending.
 * FIG4 has blocks of 128 columns, which are multiplied by half a block of the K formats' x. The
 * nibbles of each 32 columns are stored like those of one block_q4x8.
 *
 * Every isum is exact in any order. It is at most 128 * 127 * 128 < 2^21,
 * so (float)isum is exact as well: f32 has all integers up to 2^24. */
#include "kernels/kernels.h"
#include "kernels/ref/dot.h"

/* Multiply 32 columns of row r, from the nibbles of 8 rows, by x.q. */
static int32_t dot_32(const uint8_t *q, size_t r, const int8_t values[NIBBLES], const int8_t *x)
{
    int32_t sum = 0;

    for (size_t c = 0; c < 16; c++) {
        uint8_t byte = q[block_place(r, c)];

        sum += values[byte & 15] * x[c] + values[byte >> 4] * x[c + 16];
    }
    return sum;
}

static float add_t4(float acc, const struct block_q4x8 *w, const int8_t values[NIBBLES],
                    const struct block_q8 *x, size_t r)
{
    return fmaf((float)dot_32(w->q, r, values, x->q), f32_from_f16(w->d[r]) * x->d, acc);
}

/* Block i of a row is multiplied by half i % 2 of block i / 2 of x. */
static float add_fig4(float acc, const struct block_fig4x8 *w, const int8_t values[NIBBLES],
                      const struct block_q8k *x, size_t i, size_t r)
{
    const int8_t *q = x[i / 2].q + i % 2 * FIG4_COLS;
    int32_t sum = 0;

    for (size_t run = 0; run < FIG4_COLS / BLOCK_COLS; run++) {
        sum += dot_32(w->q[run], r, values, q + run * BLOCK_COLS);
    }
    return fmaf((float)sum, f32_from_f16(w->d[r]) * x[i / 2].d, acc);
}

void gemv_f32_t4x8_q8_ref(float *restrict y, const void *restrict w,
                          const struct block_q8 *restrict x, size_t rows, size_t cols,
                          const struct nibble_table *restrict table)
{
    size_t n_blocks = cols / BLOCK_COLS;

    assert(cols % BLOCK_COLS == 0);
    for (size_t r = 0; r < rows; r++) {
        const struct block_q4x8 *block = (const struct block_q4x8 *)w + r / 8 * n_blocks;

        y[r] = 0.0f;
        for (size_t i = 0; i < n_blocks; i++) {
            y[r] = add_t4(y[r], &block[i], table->values, &x[i], r % 8);
        }
    }
}

void gemv_f32_fig4x8_q8k_ref(float *restrict y, const void *restrict w,
                             const struct block_q8k *restrict x, size_t rows, size_t cols,
                             const struct nibble_table *restrict table)
{
    size_t n_blocks = cols / FIG4_COLS;

    assert(cols % FIG4_COLS == 0);
    for (size_t r = 0; r < rows; r++) {
        const struct block_fig4x8 *block = (const struct block_fig4x8 *)w + r / 8 * n_blocks;

        y[r] = 0.0f;
        for (size_t i = 0; i < n_blocks; i++) {
            y[r] = add_fig4(y[r], &block[i], table->values, x, i, r % 8);
        }
    }
}

static void clear(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = 0.0f;
    }
}

/* A block of x is extracted from its group of four tokens once for all rows, as in the other
 * gemms. */
void gemm_f32_t4x8_q8x4_ref(float *restrict y, const void *restrict w,
                            const struct block_q8x4 *restrict x,
                            const struct gemm_shape *restrict shape,
                            const struct nibble_table *restrict table)
{
    size_t n_blocks = shape->cols / BLOCK_COLS;

    assert(shape->cols % BLOCK_COLS == 0);
    for (size_t t = 0; t < shape->n_tokens; t++) {
        float *out = y + t * shape->y_stride;

        clear(out, shape->rows);
        for (size_t i = 0; i < n_blocks; i++) {
            /* Extract the token as a gemv would get it, so that the bits are the same. */
            struct block_q8 token = token_q8(&x[t / 4 * n_blocks + i], t % 4);

            for (size_t r = 0; r < shape->rows; r++) {
                const struct block_q4x8 *block = (const struct block_q4x8 *)w + r / 8 * n_blocks;

                out[r] = add_t4(out[r], &block[i], table->values, &token, r % 8);
            }
        }
    }
}

void gemm_f32_fig4x8_q8kx4_ref(float *restrict y, const void *restrict w,
                               const struct block_q8kx4 *restrict x,
                               const struct gemm_shape *restrict shape,
                               const struct nibble_table *restrict table)
{
    /* Each block of x takes two blocks of weights. */
    size_t n_blocks = shape->cols / FIG4_COLS;
    size_t n_x = (n_blocks + 1) / 2;

    assert(shape->cols % FIG4_COLS == 0);
    for (size_t t = 0; t < shape->n_tokens; t++) {
        float *out = y + t * shape->y_stride;

        clear(out, shape->rows);
        for (size_t i = 0; i < n_blocks; i++) {
            struct block_q8k token = token_q8k(&x[t / 4 * n_x + i / 2], t % 4);

            for (size_t r = 0; r < shape->rows; r++) {
                const struct block_fig4x8 *block = (const struct block_fig4x8 *)w +
                                                   r / 8 * n_blocks;

                out[r] = add_fig4(out[r], &block[i], table->values, &token, i % 2, r % 8);
            }
        }
    }
}

/* The scales and the nibbles of 8 rows and 32 columns. */
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

/* y = d * value, with one rounding. */
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
