// void gemv_f32_q2kx8_q8k_avx2_vnni(float *y, const void *w, const struct block_q8k *x,
//                                   size_t rows, size_t cols, size_t ahead)
//
// Registers and algorithm: k_bits_avx2.h.
#define AVX_VNNI
#include "kernels/x86_64/k_bits_avx2.h"

gemv_k gemv_f32_q2kx8_q8k_avx2_vnni, block_q2k, Q2K_BYTES
