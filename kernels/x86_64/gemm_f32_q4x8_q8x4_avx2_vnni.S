// void gemm_f32_q4x8_q8x4_avx2_vnni(float *y, const void *w, const struct block_q8x4 *x,
//                                   const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_avx2_vnni.h. 144 bytes of weights a group and block; sums begin
// at -8 * sum(x), because nibbles stay unsigned.
#include "kernels/x86_64/gemm_avx2_vnni.h"

gemm_vnni gemm_f32_q4x8_q8x4_avx2_vnni, columns_q4, Q4X8_BYTES, 3, 0x0f0f0f0f
