// void gemv_f32_fig4x8_q8k_neon_dotprod(float *y, const void *w, const struct block_q8k *x,
//                                    size_t rows, size_t cols, const struct nibble_table *table)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 table; the registers are in gemv_table_neon_dotprod.h
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
//
// 16 rows x 128 columns take 454 instructions: 205 cycles in the model of Neoverse N1, which stands for
// Cortex-A76, 5.2 bytes a cycle (llvm-mca 19).
#include "kernels/arm64/gemv_table_neon_dotprod.h"

func gemv_f32_fig4x8_q8k_neon_dotprod, dotprod
    load_table
    gemv_pairs blocks_fig4, FIG4_COLS_LOG2, FIG4_BYTES, MAGIC
endfunc gemv_f32_fig4x8_q8k_neon_dotprod
