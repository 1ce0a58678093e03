// void gemm_f32_q41x8_q8x4_neon_i8mm(float *y, const void *w, const struct block_q8x4 *x,
//                                   const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved.
#include "kernels/arm64/gemm_mins_neon_i8mm.h"

.macro prepare_q41_pairs
    prepare_mins 0, 1
    pair_quants 2
.endm

func gemm_f32_q41x8_q8x4_neon_i8mm, i8mm
    gemm_tiles prepare_q41_pairs, multiply_pairs_with_mins, COLS_LOG2, Q8X4_BYTES, MINS_SLICE, MINS_SCRATCH
endfunc gemm_f32_q41x8_q8x4_neon_i8mm
