/* void gemm_f32_q51x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * Registers and algorithm: gemm_fifths_rvv.h. For 8 rows, 32 columns and a token: 27 instructions at
 * VLEN 128, 14 at 256, of 64 rows and 32 tokens. */
#define BLOCK_BYTES Q51_BYTES
#define QUANTS_AT Q51_QUANTS
#define HIGH_AT Q51_HIGH
#define MINS_AT Q51_MINS
#include "kernels/riscv64/gemm_fifths_rvv.h"

func gemm_f32_q51x8_q8x4_rvv, v
    gemm_fifths
endfunc
