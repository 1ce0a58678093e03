/* void gemm_f32_q4x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                            const struct block_q8x4 *restrict x,
 *                            const struct gemm_shape *restrict shape)
 *
 * Registers and algorithm: gemm_nibbles_rvv.h. For 8 rows, 32 columns and a token: 14 instructions at
 * VLEN 128, 7.5 at 256, of which decoding is 0.6 for 64 tokens. Two tokens a step in registers of m8 and
 * two columns a load take 10 instructions for the columns; four in m4 20. */
#define BLOCK_BYTES Q4X8_BYTES
#define QUANTS_AT QUANTS
#include "kernels/riscv64/gemm_nibbles_rvv.h"

func gemm_f32_q4x8_q8x4_rvv, v
    gemm_nibbles
endfunc
