// void gemm_f32_q3kx8_q8kx4_neon_dotprod(float *y, const void *w, const struct block_q8kx4 *x,
//                                        const struct gemm_shape *shape)
//
// gemm_f32_q6kx8_q8kx4_neon_dotprod with weights of 3 bits, 4 times too large as those there.
#include "kernels/arm64/gemm_q6k_neon_dotprod.h"
#include "kernels/arm64/gemm_prepare_k_neon.h"

func gemm_f32_q3kx8_q8kx4_neon_dotprod, dotprod
    gemm_tiles prepare_q3k, multiply_q6k, COLS_K_LOG2, Q8KX4_BYTES, Q6K_SLICE, Q6K_SCRATCH
endfunc gemm_f32_q3kx8_q8kx4_neon_dotprod
