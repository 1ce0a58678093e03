/* void gemv_f32_q5kx8_q8k_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                                size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a7, t0-t6, ft0-ft9, fa0-fa7; keeps s0-s11 and ra
 * in a frame of 3360 bytes.
 *
 * q5k_rv64gc.h. Instructions per 32 weights: 87. */
#define TOKENS 1
#include "kernels/riscv64/q5k_rv64gc.h"

func gemv_f32_q5kx8_q8k_rv64gc
    open_frame
    gemv_loops q5k_block, Q5K_BYTES
    close_frame
    ret
endfunc
