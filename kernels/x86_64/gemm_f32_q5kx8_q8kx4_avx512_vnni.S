// void gemm_f32_q5kx8_q8kx4_avx512_vnni(float *y, const void *w, const struct block_q8kx4 *x,
//                                       const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_k_bits_avx512_vnni.h.
#include "kernels/x86_64/gemm_k_bits_avx512_vnni.h"

gemm_vnni_k gemm_f32_q5kx8_q8kx4_avx512_vnni, unpack_q5k, tokens_q5k, Q5K_BYTES
