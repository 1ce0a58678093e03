/* void gemv_f32_q50x8_q8_rv64gc(float *restrict y, const void *restrict w,
 *                              const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                              size_t ahead)
 *
 * Registers and algorithm: gemv_nibbles_rv64gc.h. Instructions per 32 weights: 88. */
#define BLOCK_BYTES Q50_BYTES
#define QUANTS_AT Q50_QUANTS
#define HIGH_AT Q50_HIGH
#define BIAS_LOG2 4
#include "kernels/riscv64/gemv_nibbles_rv64gc.h"

func gemv_f32_q50x8_q8_rv64gc
    gemv_nibbles
endfunc
