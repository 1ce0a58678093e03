// void gemv_f32_q51x8_q8_neon(float *y, const void *w, const struct block_q8 *x,
//                            size_t rows, size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the registers are in gemv_mins_neon.h
// Clobbers x0-x8, v0-v7, v16-v31; d8-d15 are saved.
//
// 32 columns of 8 rows take 112 instructions.
#include "kernels/arm64/gemv_mins_neon.h"

.macro blocks_q51
    blocks_mins 32, 1, 1
.endm

func gemv_f32_q51x8_q8_neon
    gemv_mins blocks_q51
endfunc gemv_f32_q51x8_q8_neon
