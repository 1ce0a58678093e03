/* void gemv_f32_q6kx8_q8k_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                                size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a7, t0-t6, ft0-ft11, fa0, fa4, fa5, fa7; keeps
 * s0-s11 and ra in a frame of 656 bytes. q6k_rv64gc.h, a gemm of one token. Instructions per 32
 * weights: 131. */
#define TOKENS 1
#define ACT_BYTES Q8K_BYTES
#define ACT_D Q8K_SCALE
#include "kernels/riscv64/q6k_rv64gc.h"

.macro q6k_shared
    share q6k_block
.endm

func gemv_f32_q6kx8_q8k_rv64gc
    open_frame
    shape_of_gemv
    matrix q6k_shared, Q6K_BYTES
    close_frame
    ret
endfunc
