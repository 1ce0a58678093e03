/* void gemm_f32_q50x8_q8x4_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8x4 *restrict x,
 *                                const struct gemm_shape *restrict shape)
 *
 * Registers and algorithm: gemm_fifths_rv64gc.h. Instructions per 32 weights and token: 77. */
#define BLOCK_BYTES Q50_BYTES
#define QUANTS_AT Q50_QUANTS
#define HIGH_AT Q50_HIGH
#include "kernels/riscv64/gemm_fifths_rv64gc.h"

func gemm_f32_q50x8_q8x4_rv64gc
    gemm_fifths
endfunc
