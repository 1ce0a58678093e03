// void gemv_f32_tq2x8_q8k_neon_dotprod(float *y, const void *w, const struct block_q8k *x,
//                                      size_t rows, size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; registers and algorithm: few_neon_dotprod.h
// Clobbers x0-x15, v0-v7, v16-v31; d8-d15 are saved.
#include "kernels/arm64/few_neon_dotprod.h"

gemv_few gemv_f32_tq2x8_q8k_neon_dotprod, blocks_tq2, begin_tq2
