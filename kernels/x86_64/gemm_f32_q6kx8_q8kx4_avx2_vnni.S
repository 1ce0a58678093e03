// void gemm_f32_q6kx8_q8kx4_avx2_vnni(float *y, const void *w, const struct block_q8kx4 *x,
//                                     const struct gemm_shape *shape)
//
// Registers and algorithm: k_pairs_avx2_vnni.h.
#include "kernels/x86_64/k_pairs_avx2_vnni.h"

gemm_k gemm_f32_q6kx8_q8kx4_avx2_vnni, block_pairs_q6k, Q6K_BYTES
