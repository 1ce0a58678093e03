// void gemv_f32_q2kx8_q8k_avx512_vnni(float *y, const void *w, const struct block_q8k *x,
//                                     size_t rows, size_t cols, size_t ahead)
//
// Registers and algorithm: gemv_k_bits_avx512_vnni.h.
#include "kernels/x86_64/gemv_k_bits_avx512_vnni.h"

gemv_vnni_k gemv_f32_q2kx8_q8k_avx512_vnni, block_q2k, Q2K_BYTES, masks_q2k
