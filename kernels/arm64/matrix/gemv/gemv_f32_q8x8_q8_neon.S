// void gemv_f32_q8x8_q8_neon(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon.h
// v0-v7 x, each register 4 columns four times over; v16-v23 weights
// v24-v27 products in int16 of rows 01, 23, 45, 67; v8-v11 their sums in int32
// v28, v29 y of 8 rows; v30 scales; v12 scale of x's block
// Clobbers x0-x8, v0-v7, v16-v31; d8-d15 are saved.
//
// Eight rows at a time. Two products fit an int16 unless both are -128 * -128, so smull and smlal
// take two chunks of 4 columns before sadalp widens. x decides whether that can happen: without
// a -128 in x the largest sum is 2 * 128 * 127. x is searched once per call; quantize_q8_f32 never
// makes a -128, and where one is found every product is widened by itself.
// 256 weights take 32 multiplications, 16 widening adds and about 30 others: 143 cycles
// in the model of Cortex-A53, 1.9 bytes a cycle, and 43 in that of Cortex-A72, 6.3 (llvm-mca 19).
#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define later x8                // weights to fetch now
#define least w8

#define dots01 v8
#define dots23 v9
#define dots45 v10
#define dots67 v11
#define x_scale v12
#define x_sum v13
#define acc_low v28
#define acc_high v29
#define scales v30
#define minimum v31

// Products of one chunk of 8 rows.
.macro products rows0123, rows4567, x_chunk, multiply
    \multiply   v24.8h, \rows0123\().8b, \x_chunk\().8b
    \multiply\()2 v25.8h, \rows0123\().16b, \x_chunk\().16b
    \multiply   v26.8h, \rows4567\().8b, \x_chunk\().8b
    \multiply\()2 v27.8h, \rows4567\().16b, \x_chunk\().16b
.endm

.macro widen pairwise
    \pairwise   dots01.4s, v24.8h
    \pairwise   dots23.4s, v25.8h
    \pairwise   dots45.4s, v26.8h
    \pairwise   dots67.4s, v27.8h
.endm

// Two chunks; `exact` widens between them, `pairwise` begins or continues the sums.
.macro two_chunks first, second, third, fourth, x_first, x_second, pairwise, exact
    products \first, \second, \x_first, smull
.if \exact
    widen   \pairwise
    products \third, \fourth, \x_second, smull
    widen   sadalp
.else
    products \third, \fourth, \x_second, smlal
    widen   \pairwise
.endif
.endm

.macro blocks_q8 exact
.Lblock\@:
    add     later, weights, ahead
    ld1     {scales.8h}, [weights], #16
    prfm    pldl1strm, [later]
    prfm    pldl1strm, [later, #64]
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    prfm    pldl1strm, [later, #128]
    two_chunks v16, v17, v18, v19, v0, v1, saddlp, \exact
    prfm    pldl1strm, [later, #192]
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    two_chunks v20, v21, v22, v23, v2, v3, sadalp, \exact
    prfm    pldl1strm, [later, #256]
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    ld2r    {x_scale.4s, x_sum.4s}, [block], #8
    two_chunks v16, v17, v18, v19, v4, v5, sadalp, \exact
    fcvtl   v16.4s, scales.4h
    fcvtl2  v17.4s, scales.8h
    subs    blocks_left, blocks_left, #1
    two_chunks v20, v21, v22, v23, v6, v7, sadalp, \exact
    fmul    v16.4s, v16.4s, x_scale.4s
    fmul    v17.4s, v17.4s, x_scale.4s
    addp    dots01.4s, dots01.4s, dots23.4s
    addp    dots45.4s, dots45.4s, dots67.4s
    scvtf   dots01.4s, dots01.4s
    scvtf   dots45.4s, dots45.4s
    fmla    acc_low.4s, dots01.4s, v16.4s
    fmla    acc_high.4s, dots45.4s, v17.4s
    b.ne    .Lblock\@
.endm

.macro blocks_wrapping
    blocks_q8 0
.endm

.macro blocks_exact
    blocks_q8 1
.endm

func gemv_f32_q8x8_q8_neon
    cbz     rows_left, 5f
    save_vectors
    lsr     n_blocks, n_blocks, #COLS_LOG2
    movi    minimum.16b, #0
    mov     block, vector
    mov     blocks_left, n_blocks
    cbz     n_blocks, 2f
1:
    ld1     {v0.16b, v1.16b}, [block], #32
    subs    blocks_left, blocks_left, #1
    add     block, block, #8
    smin    minimum.16b, minimum.16b, v0.16b
    smin    minimum.16b, minimum.16b, v1.16b
    b.ne    1b
2:
    sminv   b0, minimum.16b
    smov    least, v0.b[0]
    cmn     least, #128
    b.eq    3f
    gemv_groups blocks_wrapping, acc_low, acc_high, 4f
    b       4f
3:
    gemv_groups blocks_exact, acc_low, acc_high, 4f
4:
    store_ragged acc_low, acc_high, out, rows_left // of rows mod 8: nothing after whole groups
    restore_vectors
5:
    ret
endfunc gemv_f32_q8x8_q8_neon
