// void gemm_f32_q5kx8_q8kx4_neon_i8mm(float *y, const void *w, const struct block_q8kx4 *x,
//                                     const struct gemm_shape *shape)
//
// gemm_f32_q4kx8_q8kx4_neon_i8mm with weights of 5 bits, joined where they are prepared.
#include "kernels/arm64/gemm_q4k_neon_i8mm.h"
#include "kernels/arm64/gemm_prepare_k_neon.h"

.macro prepare_q5k_pairs
    prepare_pairs prepare_q5k
.endm

func gemm_f32_q5kx8_q8kx4_neon_i8mm, i8mm
    gemm_tiles prepare_q5k_pairs, multiply_q4k_pairs, COLS_K_LOG2, Q8KX4_BYTES, Q4K_SLICE, \
               Q4K_SCRATCH
endfunc gemm_f32_q5kx8_q8kx4_neon_i8mm
