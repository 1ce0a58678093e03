/* void gemv_f32_q51x8_q8_rv64gc(float *restrict y, const void *restrict w,
 *                              const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                              size_t ahead)
 *
 * Registers and algorithm: gemv_nibbles_rv64gc.h. Instructions per 32 weights: 93. */
#define BLOCK_BYTES Q51_BYTES
#define QUANTS_AT Q51_QUANTS
#define HIGH_AT Q51_HIGH
#define MINS_AT Q51_MINS
#include "kernels/riscv64/gemv_nibbles_rv64gc.h"

func gemv_f32_q51x8_q8_rv64gc
    gemv_nibbles
endfunc
