/* void gemv_f32_q5kx8_q8k_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                                size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a7, t0-t6, ft0-ft11, fa0, fa4, fa5, fa7; keeps
 * s0-s11 and ra in a frame of 2336 bytes. k_bits_rv64gc.h, a gemm of one token. */
#define TOKENS 1
#define ACT_BYTES Q8K_BYTES
#define ACT_D Q8K_SCALE
#include "kernels/riscv64/k_bits_rv64gc.h"

func gemv_f32_q5kx8_q8k_rv64gc
    open_with_block
    shape_of_gemv
    matrix q5k_block, Q5K_BYTES
    close_with_block
    ret
endfunc
