// void gemv_f32_q3kx8_q8k_neon(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                              size_t cols, size_t ahead)
//
// Registers and algorithm: gemv_k16_neon.h. Clobbers x0-x16, v0-v7, v16-v31; d8-d15 are saved.
#include "kernels/arm64/matrix/gemv/gemv_k16_neon.h"

.macro blocks_q3k
    movi    v14.16b, #3
.Lblock\@:
    sum_block q3k, Q3K_SCALES, Q3K_LOW, Q3K_HIGH
    ld1     {v0.8h}, [weights]
    add     block, block, #256          // x.d: 288 in the block, 32 are done
    add     weights, weights, #Q3K_BYTES
    ld1r    {v1.4s}, [block]
    fcvtl   v2.4s, v0.4h
    fcvtl2  v3.4s, v0.8h
    scvtf   sums0123.4s, sums0123.4s
    scvtf   sums4567.4s, sums4567.4s
    fmul    v2.4s, v2.4s, v1.4s
    fmul    v3.4s, v3.4s, v1.4s
    subs    blocks_left, blocks_left, #1
    add     block, block, #16
    fmla    acc_low.4s, sums0123.4s, v2.4s
    fmla    acc_high.4s, sums4567.4s, v3.4s
    b.ne    .Lblock\@
.endm

func gemv_f32_q3kx8_q8k_neon
    gemv_k16 blocks_q3k
endfunc gemv_f32_q3kx8_q8k_neon
