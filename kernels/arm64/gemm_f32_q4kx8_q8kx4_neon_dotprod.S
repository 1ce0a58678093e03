// void gemm_f32_q4kx8_q8kx4_neon_dotprod(float *y, const void *w, const struct block_q8kx4 *x,
//                                        const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 integers of 8 rows and 4 tokens over 256 columns, v16-v23 over 32; v0-v7 weights,
// v8-v15 x; y is in the frame meanwhile. At the end of 256 columns v16-v23 collect the minima.
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// Prepared are nibbles as int8, scales as int32, minima as int16, d and dmin as f32. A sub-block of
// 8 rows takes a token 16 sdot and 2 mla; its minima 2 smlal by the sum of x, which is of 32
// columns after an addition. 24.2 instructions in all, the 1/8 of what comes once in 256 columns
// included: 14.4 cycles in the model of Neoverse N1, which stands for Cortex-A76 (llvm-mca 19).
#include "kernels/arm64/gemm_q4k_neon_dotprod.h"

func gemm_f32_q4kx8_q8kx4_neon_dotprod, dotprod
    gemm_tiles prepare_q4k, multiply_q4k, COLS_K_LOG2, Q8KX4_BYTES, Q4K_SLICE, Q4K_SCRATCH
endfunc gemm_f32_q4kx8_q8kx4_neon_dotprod
