// void gemv_f32_q6kx8_q8k_avx2_vnni(float *y, const void *w, const struct block_q8k *x,
//                                   size_t rows, size_t cols, size_t ahead)
//
// Registers and algorithm: k_avx2.h.
#define AVX_VNNI
#include "kernels/x86_64/k_avx2.h"

gemv_k gemv_f32_q6kx8_q8k_avx2_vnni, block_q6k, Q6K_BYTES
