// void gemm_f32_q4kx8_q8kx4_neon_i8mm(float *y, const void *w, const struct block_q8kx4 *x,
//                                     const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 integers of 8 rows and 4 tokens over 256 columns, v16-v23 over 32, at the end their
// minima; v0-v7 weights, v8-v15 x; y is in the frame meanwhile
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved.
//
// The 8 minima of a row are a row of 8 columns too: a sum of 32 x is 128 high + low, both int8, and
// smmla takes all sub-blocks at once. 32 columns of 8 rows take a token 8 smmla, 2 mla, 2 zip and
// 17.5 instructions in all: 6.4 cycles in the model of Neoverse V1 (llvm-mca 19).
#include "kernels/arm64/gemm_q4k_neon_i8mm.h"

.macro prepare_q4k_pairs
    prepare_pairs prepare_q4k
.endm

func gemm_f32_q4kx8_q8kx4_neon_i8mm, i8mm
    gemm_tiles prepare_q4k_pairs, multiply_q4k_pairs, COLS_K_LOG2, Q8KX4_BYTES, Q4K_SLICE, \
               Q4K_SCRATCH
endfunc gemm_f32_q4kx8_q8kx4_neon_i8mm
