// void gemm_f32_q6kx8_q8kx4_neon_i8mm(float *y, const void *w, const struct block_q8kx4 *x,
//                                     const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 integers of 8 rows and 4 tokens over 256 columns, v16-v23 over 16; v0-v7 weights,
// v8-v15 x; y is in the frame meanwhile
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved.
//
// Weights are 4 (q - 32), as with the dot product. 32 columns of 8 rows take a token 8 smmla, 4
// mla, 2 zip and 18 instructions in all: 6.8 cycles in the model of Neoverse V1 (llvm-mca 19).
#include "kernels/arm64/gemm_q6k_neon_i8mm.h"

.macro prepare_q6k_pairs
    prepare_q6k
    pair_quants 5
.endm

func gemm_f32_q6kx8_q8kx4_neon_i8mm, i8mm
    gemm_tiles prepare_q6k_pairs, multiply_q6k_pairs, COLS_K_LOG2, Q8KX4_BYTES, Q6K_SLICE, \
               Q6K_SCRATCH
endfunc gemm_f32_q6kx8_q8kx4_neon_i8mm
