// void gemv_f32_q2kx8_q8k_neon(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                              size_t cols, size_t ahead)
//
// Registers and algorithm: gemv_k16_neon.h; v14 and v15 masks, v11 low nibbles. Clobbers x0-x16,
// v0-v7, v16-v31; d8-d15 are saved.
#include "kernels/arm64/matrix/gemv/gemv_k16_neon.h"

// Mins of two sub-blocks, the high nibbles of `pair`, times sums.h[from], sums.h[from + 1]
.macro add_mins pair, sums, from
    ushr    \pair\().16b, \pair\().16b, #4
    uxtl    v2.8h, \pair\().8b
    uxtl2   v3.8h, \pair\().16b
    smlal   v24.4s, v2.4h, \sums\().h[\from]
    smlal2  v25.4s, v2.8h, \sums\().h[\from]
    smlal   v24.4s, v3.4h, \sums\().h[\from + 1]
    smlal2  v25.4s, v3.8h, \sums\().h[\from + 1]
.endm

.macro blocks_q2k
    movi    v11.16b, #15
    movi    v14.16b, #3
    movi    v15.16b, #12
.Lblock\@:
    sum_block q2k, Q2K_SCALES, Q2K_QUANTS, Q2K_QUANTS
    add     scales, weights, #Q2K_SCALES
    add     block, block, #Q8K_SUM - 32
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [scales], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [scales]
    ld1     {v0.8h, v1.8h}, [block], #32
    movi    v24.4s, #0
    movi    v25.4s, #0
    add_mins v16, v0, 0
    add_mins v17, v0, 2
    add_mins v18, v0, 4
    add_mins v19, v0, 6
    add_mins v20, v1, 0
    add_mins v21, v1, 2
    add_mins v22, v1, 4
    add_mins v23, v1, 6
    ld1     {v2.8h, v3.8h}, [weights]   // d, dmin
    ld1r    {v1.4s}, [block]
    add     weights, weights, #Q2K_BYTES
    add     block, block, #16
    fcvtl   v4.4s, v2.4h
    fcvtl2  v5.4s, v2.8h
    fcvtl   v6.4s, v3.4h
    fcvtl2  v7.4s, v3.8h
    scvtf   sums0123.4s, sums0123.4s
    scvtf   sums4567.4s, sums4567.4s
    scvtf   v24.4s, v24.4s
    scvtf   v25.4s, v25.4s
    fmul    v4.4s, v4.4s, v1.4s
    fmul    v5.4s, v5.4s, v1.4s
    fmul    v6.4s, v6.4s, v1.4s
    fmul    v7.4s, v7.4s, v1.4s
    subs    blocks_left, blocks_left, #1
    fmla    acc_low.4s, sums0123.4s, v4.4s
    fmla    acc_high.4s, sums4567.4s, v5.4s
    fmls    acc_low.4s, v24.4s, v6.4s
    fmls    acc_high.4s, v25.4s, v7.4s
    b.ne    .Lblock\@
.endm

func gemv_f32_q2kx8_q8k_neon
    gemv_k16 blocks_q2k
endfunc gemv_f32_q2kx8_q8k_neon
