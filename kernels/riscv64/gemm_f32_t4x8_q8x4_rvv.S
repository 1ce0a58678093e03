/* void gemm_f32_t4x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape,
 *                             const struct nibble_table *restrict table)
 *
 * a0 y, a1 w, a2 x, a3 shape, a4 table. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 5 KiB of
 * stack. As the gemm of Q8_0 but for the decoding, which is in gemm_table_rvv.h. */
#include "kernels/riscv64/gemm_table_rvv.h"

func gemm_f32_t4x8_q8x4_rvv, v
    gemm_table
endfunc
