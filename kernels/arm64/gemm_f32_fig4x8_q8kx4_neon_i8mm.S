// void gemm_f32_fig4x8_q8kx4_neon_i8mm(float *y, const void *w, const struct block_q8kx4 *x,
//                                     const struct gemm_shape *shape,
//                                     const struct nibble_table *table)
//
// x0 y  x1 w  x2 x  x3 shape  x4 table; the loops are in gemm_neon_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved.
//
// Prepared weights are the values of the nibbles; a tile is that of Q4_0.
#include "kernels/arm64/gemm_neon_i8mm.h"

.macro prepare_fig4_pairs
    prepare_fig4
    pair_quants 2
.endm

func gemm_f32_fig4x8_q8kx4_neon_i8mm, i8mm
    mov     table_arg, x4
    gemm_tiles prepare_fig4_pairs, multiply_pairs_32, COLS_LOG2, Q8X4_BYTES, Q4_SLICE, Q4_SCRATCH, keep_table
endfunc gemm_f32_fig4x8_q8kx4_neon_i8mm
