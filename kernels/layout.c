/* No code: what assembly takes for granted, held against the structs. Those of the weights are the
 * references' own, as kernels/ depends on nothing; flash_image/format.h asserts the same sizes. */
#include "kernels/kernels.h"
#include "kernels/ref/blocks.h"

enum { TILE_POSITIONS = KV_TILE }; /* before layout.h has its own */
#include "kernels/layout.h"

#define AT(name, type, member) static_assert(offsetof(type, member) == (name), #name)
#define BYTES(name, type) static_assert(sizeof(type) == (name), #name)

AT(SHAPE_ROWS, struct gemm_shape, rows);
AT(SHAPE_COLS, struct gemm_shape, cols);
AT(SHAPE_TOKENS, struct gemm_shape, n_tokens);
AT(SHAPE_Y_STRIDE, struct gemm_shape, y_stride);
AT(SHAPE_X_STRIDE, struct gemm_shape, x_stride);

BYTES(Q8_BYTES, struct block_q8);
AT(Q8_SCALE, struct block_q8, d);
AT(Q8_SUM, struct block_q8, sum);
BYTES(Q8X4_BYTES, struct block_q8x4);
AT(Q8X4_SCALE, struct block_q8x4, d);
AT(Q8X4_SUM, struct block_q8x4, sum);
BYTES(Q8K_BYTES, struct block_q8k);
AT(Q8K_SUM, struct block_q8k, sum);
AT(Q8K_SCALE, struct block_q8k, d);
BYTES(Q8KX4_BYTES, struct block_q8kx4);
AT(Q8KX4_SUM, struct block_q8kx4, sum);
AT(Q8KX4_SCALE, struct block_q8kx4, d);
BYTES(1 << COLS_LOG2, ((struct block_q8 *)0)->q);
BYTES(1 << COLS_K_LOG2, ((struct block_q8k *)0)->q);

BYTES(Q8X8_BYTES, struct q8x8);
AT(QUANTS, struct q8x8, q);
BYTES(Q4X8_BYTES, struct q4x8);
AT(QUANTS, struct q4x8, q);
BYTES(Q4K_BYTES, struct q4kx8);
AT(Q4K_DMIN, struct q4kx8, dmin);
AT(Q4K_SCALES, struct q4kx8, scales);
AT(Q4K_MINS, struct q4kx8, mins);
AT(Q4K_QUANTS, struct q4kx8, q);
BYTES(Q6K_BYTES, struct q6kx8);
AT(Q6K_SCALES, struct q6kx8, scales);
AT(Q6K_LOW, struct q6kx8, low);
AT(Q6K_HIGH, struct q6kx8, high);

BYTES(ROW_BYTES, struct score_row);
AT(ROW_MAX, struct score_row, max);
AT(ROW_SUM, struct score_row, sum);
AT(ROW_FACTOR, struct score_row, factor);
static_assert(TILE_POSITIONS == KV_TILE, "KV_TILE");
