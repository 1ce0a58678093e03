// void gemm_f32_q3kx8_q8kx4_neon_i8mm(float *y, const void *w, const struct block_q8kx4 *x,
//                                     const struct gemm_shape *shape)
//
// gemm_f32_q6kx8_q8kx4_neon_i8mm with weights of 3 bits, 4 times too large as those there.
#include "kernels/arm64/gemm_q6k_neon_i8mm.h"
#include "kernels/arm64/gemm_prepare_k_neon.h"

.macro prepare_q3k_pairs
    prepare_q3k
    pair_quants 5
.endm

func gemm_f32_q3kx8_q8kx4_neon_i8mm, i8mm
    gemm_tiles prepare_q3k_pairs, multiply_q6k_pairs, COLS_K_LOG2, Q8KX4_BYTES, Q6K_SLICE, \
               Q6K_SCRATCH
endfunc gemm_f32_q3kx8_q8kx4_neon_i8mm
