// void gemv_f32_q50x8_q8_avx2_vnni(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                                  size_t cols, size_t ahead)
//
// Registers and algorithm: gemv_mins_avx2.h. 176 bytes of weights a group and block.
#define AVX_VNNI
#include "kernels/x86_64/gemv_mins_avx2.h"

gemv_mins gemv_f32_q50x8_q8_avx2_vnni, Q50_BYTES, Q50_QUANTS, Q50_HIGH, 0
