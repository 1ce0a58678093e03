// void gemm_f32_q8x8_q8x4_avx2(float *y, const void *w, const struct block_q8x4 *x,
//                              const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_avx2.h. 272 bytes of weights a group and block; 128 * sum(x) comes
// off, because a weight is made unsigned by flipping its top bit.
#include "kernels/x86_64/gemm_avx2.h"

gemm_avx2 gemm_f32_q8x8_q8x4_avx2, block_q8, finish_q8, Q8X8_BYTES, 7
