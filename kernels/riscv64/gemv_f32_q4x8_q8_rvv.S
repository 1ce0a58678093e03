/* void gemv_f32_q4x8_q8_rvv(float *restrict y, const void *restrict w,
 *                           const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                           size_t ahead)
 *
 * Registers and algorithm: gemv_nibbles_rvv.h. Instructions for 8 rows and 32 columns, in tiles of 8
 * groups: 29 at VLEN 128, 22 at 256; a group alone: 68. */
#define BLOCK_BYTES Q4X8_BYTES
#define QUANTS_AT QUANTS
#define BIAS_LOG2 3
#include "kernels/riscv64/gemv_nibbles_rvv.h"

func gemv_f32_q4x8_q8_rvv, v
    gemv_nibbles
endfunc
