/* void gemm_f32_q3kx8_q8kx4_rv64gc(float *restrict y, const void *restrict w,
 *                                  const struct block_q8kx4 *restrict x,
 *                                  const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa5, fa7; keeps s0-s11 and ra
 * in a frame of 2336 bytes. k_bits_rv64gc.h. */
#define TOKENS 4
#define ACT_BYTES Q8KX4_BYTES
#define ACT_D Q8KX4_SCALE
#include "kernels/riscv64/k_bits_rv64gc.h"

func gemm_f32_q3kx8_q8kx4_rv64gc
    open_with_block
    matrix q3k_block, Q3K_BYTES
    close_with_block
    ret
endfunc
