// void gemv_f32_t4x8_q8_neon(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols, const struct nibble_table *table)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 table; the registers are in gemv_table_neon.h
// Clobbers x0-x8, v0-v7, v16-v31; d8-d15 are saved.
//
// 8 rows x 32 columns of a table within +-TABLE_NARROW, MXFP4's, take 89 instructions: 63 cycles in the
// model of Cortex-A72, in which a tbl of 16 bytes takes three slots, and 144 in that of Cortex-A53; of
// a wider table, IQ4_NL's, 101, 69 and 179 (llvm-mca 19).
#include "kernels/arm64/gemv_table_neon.h"

func gemv_f32_t4x8_q8_neon
    gemv_table blocks_t4, blocks_t4_narrow, COLS_LOG2
endfunc gemv_f32_t4x8_q8_neon
