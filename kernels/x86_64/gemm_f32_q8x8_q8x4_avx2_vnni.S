// void gemm_f32_q8x8_q8x4_avx2_vnni(float *y, const void *w, const struct block_q8x4 *x,
//                                   const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_avx2_vnni.h. 272 bytes of weights a group and block; sums begin
// at -128 * sum(x), because a weight is made unsigned by flipping its top bit.
#include "kernels/x86_64/gemm_avx2_vnni.h"

gemm_vnni gemm_f32_q8x8_q8x4_avx2_vnni, columns_q8, Q8X8_BYTES, 7, 0x80808080
