// void gemm_f32_q4x8_q8x4_avx2(float *y, const void *w, const struct block_q8x4 *x,
//                              const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_avx2.h. 144 bytes of weights a group and block; 8 * sum(x) comes
// off, because nibbles stay unsigned.
#include "kernels/x86_64/gemm_avx2.h"

gemm_avx2 gemm_f32_q4x8_q8x4_avx2, block_q4, finish_q4, Q4X8_BYTES, 3
