/* void gemm_f32_q3kx8_q8kx4_rv64gc(float *restrict y, const void *restrict w,
 *                                  const struct block_q8kx4 *restrict x,
 *                                  const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft9, fa0-fa7; keeps s0-s11 and ra in a
 * frame of 3360 bytes.
 *
 * q3k_rv64gc.h, a token at a time. Instructions per 32 weights and token: 83. */
#define TOKENS 4
#include "kernels/riscv64/q3k_rv64gc.h"

func gemm_f32_q3kx8_q8kx4_rv64gc
    open_frame
    gemv_loops q3k_block, Q3K_BYTES
    close_frame
    ret
endfunc
