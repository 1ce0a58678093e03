/* void gemm_f32_q41x8_q8x4_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8x4 *restrict x,
 *                                const struct gemm_shape *restrict shape)
 *
 * Registers and algorithm: gemm_nibbles_rv64gc.h. Instructions per 32 weights and token: 40. */
#define BLOCK_BYTES Q41_BYTES
#define QUANTS_AT Q41_QUANTS
#define MINS_AT Q41_MINS
#include "kernels/riscv64/gemm_nibbles_rv64gc.h"

func gemm_f32_q41x8_q8x4_rv64gc
    gemm_nibbles
endfunc
