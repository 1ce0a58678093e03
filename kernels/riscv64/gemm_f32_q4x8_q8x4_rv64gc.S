/* void gemm_f32_q4x8_q8x4_rv64gc(float *restrict y, const void *restrict w,
 *                               const struct block_q8x4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * Registers and algorithm: gemm_nibbles_rv64gc.h. Instructions per 32 weights and token: 34. */
#define BLOCK_BYTES Q4X8_BYTES
#define QUANTS_AT QUANTS
#include "kernels/riscv64/gemm_nibbles_rv64gc.h"

func gemm_f32_q4x8_q8x4_rv64gc
    gemm_nibbles
endfunc
