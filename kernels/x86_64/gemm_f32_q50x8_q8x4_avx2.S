// void gemm_f32_q50x8_q8x4_avx2(float *y, const void *w, const struct block_q8x4 *x,
//                               const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_mins_avx2.h. 176 bytes of weights a group and block.
#include "kernels/x86_64/gemm_mins_avx2.h"

gemm_mins gemm_f32_q50x8_q8x4_avx2, Q50_BYTES, Q50_QUANTS, Q50_HIGH, 0
