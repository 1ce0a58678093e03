/* void gemm_f32_q1x8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                               const struct block_q8kx4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 10.6 KiB of
 * stack. gemm_few_rvv.h. */
#define BLOCK_BYTES Q1_BYTES
#define BITS 1
#define PARTS 2
#include "kernels/riscv64/gemm_few_rvv.h"

gemm_few gemm_f32_q1x8_q8kx4_rvv
