/* void gemv_f32_t4x8_q8_rvv(float *restrict y, const void *restrict w,
 *                           const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                           const struct nibble_table *restrict table)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 table. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft1, v0-v31; 352 bytes
 * of stack. The algorithm is in gemv_table_rvv.h.
 *
 * Instructions for 8 rows and 32 columns: 77 at VLEN 128, 55 at 256, 87 above. */
#include "kernels/riscv64/gemv_table_rvv.h"

func gemv_f32_t4x8_q8_rvv, v
    gemv_t4
endfunc
