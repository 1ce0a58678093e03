/* void gemm_f32_fig4x8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8kx4 *restrict x,
 *                             const struct gemm_shape *restrict shape,
 *                             const struct nibble_table *restrict table)
 *
 * a0 y, a1 w, a2 x, a3 shape, a4 table. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 5 KiB of
 * stack. As the gemm of Q8_0 but for the decoding, which is in gemm_table_rvv.h. */
#define SCALE_RUNS 4     /* runs of 32 columns that share scales */
#include "kernels/riscv64/gemm_table_rvv.h"

func gemm_f32_fig4x8_q8kx4_rvv, v
    gemm_table FIG4_COLS_LOG2, FIG4_BYTES, 4 * Q8X4_BYTES
endfunc
