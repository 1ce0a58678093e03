// void gemv_f32_fig4x8_q8k_neon(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                            size_t cols, const struct nibble_table *table)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 table; the registers are in gemv_table_neon.h
// Clobbers x0-x11, v0-v7, v16-v31; d8-d15 are saved.
//
// 8 rows x 128 columns of a table within +-TABLE_NARROW take 325 instructions: 223 cycles in the model
// of Cortex-A72, in which a tbl of 16 bytes takes three slots, and 476 in that of Cortex-A53; of a
// wider table 373, 247 and 620 (llvm-mca 19).
#include "kernels/arm64/gemv_table_neon.h"

func gemv_f32_fig4x8_q8k_neon
    gemv_table blocks_fig4, blocks_fig4_narrow, FIG4_COLS_LOG2
endfunc gemv_f32_fig4x8_q8k_neon
