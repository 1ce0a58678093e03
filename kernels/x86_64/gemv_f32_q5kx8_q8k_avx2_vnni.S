// void gemv_f32_q5kx8_q8k_avx2_vnni(float *y, const void *w, const struct block_q8k *x,
//                                   size_t rows, size_t cols, size_t ahead)
//
// Registers and algorithm: k_pairs_avx2_vnni.h.
#include "kernels/x86_64/k_pairs_avx2_vnni.h"

gemv_k gemv_f32_q5kx8_q8k_avx2_vnni, block_pairs_q5k, Q5K_BYTES
