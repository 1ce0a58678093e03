// void gemv_f32_q2kx8_q8k_neon_dotprod(float *y, const void *w, const struct block_q8k *x,
//                                      size_t rows, size_t cols, size_t ahead)
//
// Registers: gemv_k16_neon_dotprod.h; at the end of a block v16-v19 minima of 16 rows. Clobbers
// x0-x17, v0-v7, v16-v31; x19, x20 and d8-d15 are saved.
//
// Two bits are masked where they are; the sums are shifted down once for 16 columns.
#include "kernels/arm64/matrix/gemv/gemv_k16_neon_dotprod.h"

// Minima of two sub-blocks, the high nibbles of `pair`, by sums.h[from] and the next.
.macro add_minima pair, low, high, sums, from
    ushr    \pair\().16b, \pair\().16b, #4
    ushll   v12.8h, \pair\().8b, #0
    ushll2  v13.8h, \pair\().16b, #0
    smlal   \low\().4s, v12.4h, \sums\().h[\from]
    smlal2  \high\().4s, v12.8h, \sums\().h[\from]
    smlal   \low\().4s, v13.4h, \sums\().h[\from + 1]
    smlal2  \high\().4s, v13.8h, \sums\().h[\from + 1]
.endm

// Minima of a group by the sums v0, v1, to low and high.
.macro group_minima scale, low, high
    movi    \low\().4s, #0
    movi    \high\().4s, #0
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [\scale], #64
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [\scale]
    add_minima v4, \low, \high, v0, 0
    add_minima v5, \low, \high, v0, 2
    add_minima v6, \low, \high, v0, 4
    add_minima v7, \low, \high, v0, 6
    add_minima v8, \low, \high, v1, 0
    add_minima v9, \low, \high, v1, 2
    add_minima v10, \low, \high, v1, 4
    add_minima v11, \low, \high, v1, 6
.endm

// y of a group += its integers times d - minima times dmin; v2 is the scale of x.
.macro finish_group meta, y0123, y4567, total0123, total4567, min0123, min4567
    ld1     {v0.8h, v1.8h}, [\meta]
    fcvtl   v4.4s, v0.4h
    fcvtl2  v5.4s, v0.8h
    fcvtl   v6.4s, v1.4h
    fcvtl2  v7.4s, v1.8h
    scvtf   \total0123\().4s, \total0123\().4s
    scvtf   \total4567\().4s, \total4567\().4s
    scvtf   \min0123\().4s, \min0123\().4s
    scvtf   \min4567\().4s, \min4567\().4s
    fmul    v4.4s, v4.4s, v2.s[0]
    fmul    v5.4s, v5.4s, v2.s[0]
    fmul    v6.4s, v6.4s, v2.s[0]
    fmul    v7.4s, v7.4s, v2.s[0]
    fmla    \y0123\().4s, \total0123\().4s, v4.4s
    fmla    \y4567\().4s, \total4567\().4s, v5.4s
    fmls    \y0123\().4s, \min0123\().4s, v6.4s
    fmls    \y4567\().4s, \min4567\().4s, v7.4s
.endm

.macro blocks_q2k
    keep_y
    mov     x_step, #32
    movi    v28.16b, #3
    movi    v29.16b, #12
    movi    v30.16b, #48
.Lblock\@:
    sum_block q2k, Q2K_SCALES, Q2K_QUANTS
    add     block, block, #Q8K_SUM
    sub     first_scale, first_scale, #128
    sub     second_scale, second_scale, #128
    ld1     {v0.8h, v1.8h}, [block], #32
    ld1     {v2.4s}, [block], #16
    group_minima first_scale, v16, v17
    group_minima second_scale, v18, v19
    sub     first_scale, first_scale, #Q2K_SCALES + 64
    sub     second_scale, second_scale, #Q2K_SCALES + 64
    take_y  v20, v21, v22, v23
    finish_group first_scale, v20, v21, v24, v25, v16, v17
    finish_group second_scale, v22, v23, v26, v27, v18, v19
    subs    blocks_left, blocks_left, #1
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [y_room]
    b.ne    .Lblock\@
    take_y  v28, v29, v30, v31
.endm

func gemv_f32_q2kx8_q8k_neon_dotprod, dotprod
    gemv_pairs blocks_q2k, COLS_K_LOG2, Q2K_BYTES, 0
endfunc gemv_f32_q2kx8_q8k_neon_dotprod
