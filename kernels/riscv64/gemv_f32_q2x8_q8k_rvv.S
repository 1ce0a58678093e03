/* void gemv_f32_q2x8_q8k_rvv(float *restrict y, const void *restrict w,
 *                           const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                           size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a5, a7, t0-t6, ft0-ft1, v0-v31; keeps s0-s11
 * in a frame of up to 6.7 KiB. few_rvv.h. */
#define BLOCK_BYTES Q2_BYTES
#define PARTS 4
#define RUN_BYTES 512
#include "kernels/riscv64/few_rvv.h"

gemv_few gemv_f32_q2x8_q8k_rvv, groups_q2, 2
