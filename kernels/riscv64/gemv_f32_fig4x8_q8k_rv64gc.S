/* void gemv_f32_fig4x8_q8k_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                                const struct nibble_table *restrict table)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 table. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft9, fa0-fa7;
 * keeps s0-s11 in a frame of 2144 bytes. gemv_table_rv64gc.h. Instructions per 32 weights: 109. */
#define RUNS 4
#include "kernels/riscv64/gemv_table_rv64gc.h"

func gemv_f32_fig4x8_q8k_rv64gc
    gemv_table FIG4_BYTES
    ret
endfunc
