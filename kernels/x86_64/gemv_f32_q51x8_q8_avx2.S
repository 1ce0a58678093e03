// void gemv_f32_q51x8_q8_avx2(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                             size_t cols, size_t ahead)
//
// Registers and algorithm: gemv_mins_avx2.h. 192 bytes of weights a group and block.
#include "kernels/x86_64/gemv_mins_avx2.h"

gemv_mins gemv_f32_q51x8_q8_avx2, Q51_BYTES, Q51_QUANTS, Q51_HIGH, Q51_MINS
