// void gemm_f32_q4x8_q8x4_neon_dotprod(float *y, const void *w, const struct block_q8x4 *x,
//                                      const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// Prepared weights are 16 (nibble - 8): one exclusive or of the byte, then a shift or a mask. The
// magic that makes floats of the sums divides by 16, and the correction by 8 sum(x) never appears.
// A block of 8 rows takes a token 16 sdot and 6 others in the vector pipes, 24.8 instructions in
// all: 11.9 cycles in the model of Neoverse N1, which stands for Cortex-A76 (llvm-mca 19), where 8
// is the floor, two sdot a cycle.
#include "kernels/arm64/gemm_prepare_neon.h"

func gemm_f32_q4x8_q8x4_neon_dotprod, dotprod
    gemm_tiles prepare_q4, multiply_q4, COLS_LOG2, Q8X4_BYTES, Q4_SLICE, Q4_SCRATCH
endfunc gemm_f32_q4x8_q8x4_neon_dotprod
