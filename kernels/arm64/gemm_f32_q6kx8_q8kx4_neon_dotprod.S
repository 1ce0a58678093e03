// void gemm_f32_q6kx8_q8kx4_neon_dotprod(float *y, const void *w, const struct block_q8kx4 *x,
//                                        const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 integers of 8 rows and 4 tokens over 256 columns, v16-v23 over 16; v0-v7 weights,
// v8-v15 x; y is in the frame meanwhile.
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// Prepared weights are 4 (q - 32), the 6 bits on top of a byte: a shift puts the high bits there
// and sri the low ones under them; the exclusive or that makes them signed serves four at once.
// The sums stay below 2^30, and the conversion to float divides by 4, which is exact. Scales are
// prepared as int32. 32 columns of 8 rows take a token 16 sdot, 4 mla and 24 instructions in all:
// 14.6 cycles in the model of Neoverse N1, which stands for Cortex-A76 (llvm-mca 19).
#include "kernels/arm64/gemm_q6k_neon_dotprod.h"

func gemm_f32_q6kx8_q8kx4_neon_dotprod, dotprod
    gemm_tiles prepare_q6k, multiply_q6k, COLS_K_LOG2, Q8KX4_BYTES, Q6K_SLICE, Q6K_SCRATCH
endfunc gemm_f32_q6kx8_q8kx4_neon_dotprod
