// void gemm_f32_q2kx8_q8kx4_avx2_vnni(float *y, const void *w, const struct block_q8kx4 *x,
//                                     const struct gemm_shape *shape)
//
// Registers and algorithm: k_bits_avx2.h.
#define AVX_VNNI
#include "kernels/x86_64/k_bits_avx2.h"

gemm_k gemm_f32_q2kx8_q8kx4_avx2_vnni, block_q2k, Q2K_BYTES
