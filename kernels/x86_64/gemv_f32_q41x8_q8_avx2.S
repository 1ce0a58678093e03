// void gemv_f32_q41x8_q8_avx2(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                             size_t cols, size_t ahead)
//
// Registers and algorithm: gemv_mins_avx2.h. 160 bytes of weights a group and block.
#include "kernels/x86_64/gemv_mins_avx2.h"

gemv_mins gemv_f32_q41x8_q8_avx2, Q41_BYTES, Q41_QUANTS, 0, Q41_MINS
