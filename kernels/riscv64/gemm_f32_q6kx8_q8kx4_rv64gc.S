/* void gemm_f32_q6kx8_q8kx4_rv64gc(float *restrict y, const void *restrict w,
 *                                  const struct block_q8kx4 *restrict x,
 *                                  const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa5, fa7; keeps s0-s11 and ra
 * in a frame of 9.6 KiB. q6k_rv64gc.h. Instructions per 32 weights and token: 59. */
#include "kernels/riscv64/q6k_rv64gc.h"

func gemm_f32_q6kx8_q8kx4_rv64gc
    open_packed_frame
    matrix q6k_block, Q6K_BYTES
    close_packed_frame
    ret
endfunc
