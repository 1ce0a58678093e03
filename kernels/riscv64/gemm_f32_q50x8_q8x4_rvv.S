/* void gemm_f32_q50x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * Registers and algorithm: gemm_fifths_rvv.h. For 8 rows, 32 columns and a token: 26 instructions at
 * VLEN 128, 13 at 256, of 64 rows and 32 tokens. */
#define BLOCK_BYTES Q50_BYTES
#define QUANTS_AT Q50_QUANTS
#define HIGH_AT Q50_HIGH
#include "kernels/riscv64/gemm_fifths_rvv.h"

func gemm_f32_q50x8_q8x4_rvv, v
    gemm_fifths
endfunc
