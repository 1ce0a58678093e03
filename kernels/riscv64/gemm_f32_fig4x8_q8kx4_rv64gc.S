/* void gemm_f32_fig4x8_q8kx4_rv64gc(float *restrict y, const void *restrict w,
 *                                  const struct block_q8kx4 *restrict x,
 *                                  const struct gemm_shape *restrict shape,
 *                                  const struct nibble_table *restrict table)
 *
 * a0 y, a1 w, a2 x, a3 shape, a4 table. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa5, fa7; keeps s0-s11
 * and ra in a frame of 4432 bytes. gemm_table_rv64gc.h. Instructions per 32 weights and token: 66. */
#define RUNS 4
#include "kernels/riscv64/gemm_table_rv64gc.h"

func gemm_f32_fig4x8_q8kx4_rv64gc
    open_with_table
    gemm_loops block_fig4, 0, Q8KX4_BYTES, COLS_K_LOG2
    close_with_table
    ret
endfunc
