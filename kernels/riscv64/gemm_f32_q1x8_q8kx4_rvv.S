/* void gemm_f32_q1x8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8kx4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, v0-v31; keeps s0-s11
 * in a frame of up to 6.7 KiB. few_rvv.h. */
#define ACT_BYTES Q8KX4_BYTES
#define ACT_D Q8KX4_SCALE
#define ACT_SUM Q8KX4_SUM
#define ACT_STEP 16
#define ACT_SUM_STEP 8
#define BLOCK_BYTES Q1_BYTES
#define PARTS 2
#define RUN_BYTES 256
#include "kernels/riscv64/few_rvv.h"

gemm_few gemm_f32_q1x8_q8kx4_rvv, groups_q1, 1
