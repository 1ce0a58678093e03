/* void gemv_f32_fig4x8_q8k_rvv(float *restrict y, const void *restrict w,
 *                           const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                           const struct nibble_table *restrict table)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 table. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft1, v0-v31; 1.3 KiB
 * of stack. The algorithm is in gemv_fig4_rvv.h.
 *
 * Instructions for 8 rows and 32 columns: 45 at VLEN 128, 26 at 256, and 62 at 128 for a table beyond
 * +-TABLE_NARROW. */
#include "kernels/riscv64/gemv_fig4_rvv.h"

func gemv_f32_fig4x8_q8k_rvv, v
    gemv_fig4
endfunc
