/* void gemv_f32_q51x8_q8_rvv(float *restrict y, const void *restrict w,
 *                            const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                            size_t ahead)
 *
 * Registers and algorithm: gemv_nibbles_rvv.h. Instructions for 8 rows and 32 columns, in tiles of 8
 * groups: 61 at VLEN 128, 53 at 256. */
#define BLOCK_BYTES Q51_BYTES
#define QUANTS_AT Q51_QUANTS
#define HIGH_AT Q51_HIGH
#define MINS_AT Q51_MINS
#include "kernels/riscv64/gemv_nibbles_rvv.h"

func gemv_f32_q51x8_q8_rvv, v
    gemv_nibbles
endfunc
