/* void gemv_f32_q41x8_q8_rv64gc(float *restrict y, const void *restrict w,
 *                              const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                              size_t ahead)
 *
 * Registers and algorithm: gemv_nibbles_rv64gc.h. Instructions per 32 weights: 54. */
#define BLOCK_BYTES Q41_BYTES
#define QUANTS_AT Q41_QUANTS
#define MINS_AT Q41_MINS
#include "kernels/riscv64/gemv_nibbles_rv64gc.h"

func gemv_f32_q41x8_q8_rv64gc
    gemv_nibbles
endfunc
