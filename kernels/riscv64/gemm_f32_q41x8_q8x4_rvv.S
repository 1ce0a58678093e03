/* void gemm_f32_q41x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * Registers and algorithm: gemm_nibbles_rvv.h. For 8 rows, 32 columns and a token: 17 instructions at
 * VLEN 128, 15 at 256, of 64 rows and 32 tokens. */
#define BLOCK_BYTES Q41_BYTES
#define QUANTS_AT Q41_QUANTS
#define MINS_AT Q41_MINS
#include "kernels/riscv64/gemm_nibbles_rvv.h"

func gemm_f32_q41x8_q8x4_rvv, v
    gemm_nibbles
endfunc
