// void gemv_f32_q4x8_q8_neon_dotprod(float *y, const void *w, const struct block_q8 *x,
//                                    size_t rows, size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon_dotprod.h
// v0-v3 x of a block and a half with their scales and sums, v0 later the rest; v8-v23 weights of the two
// groups; v24-v27 sums of 16 rows; v4, v7 low nibbles; v5 mask, v6 eight
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
//
// Nibbles stay unsigned; 8 sum(x) comes off with MAGIC, in one subtraction of exact floats.
// Two blocks go together: their 18 vectors of weights come by 5 loads and x by 2, where one block
// takes 3 and 2. 32 columns of 16 rows take 94 instructions, of which 64 are products and the parting
// of nibbles and 16 scale.
#include "kernels/arm64/matrix/gemv/gemv_neon_dotprod.h"

#define mask v5
#define eight v6

// Four columns of 8 rows and the four that lie 16 columns on.
.macro chunk rows0123, rows4567, sum0123, sum4567, x_low, x_high, low0123, low4567
    and     \low0123\().16b, \rows0123\().16b, mask.16b
    and     \low4567\().16b, \rows4567\().16b, mask.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
    sdot    \sum0123\().4s, \low0123\().16b, \x_low
    sdot    \sum4567\().4s, \low4567\().16b, \x_low
    sdot    \sum0123\().4s, \rows0123\().16b, \x_high
    sdot    \sum4567\().4s, \rows4567\().16b, \x_high
.endm

.macro first_chunk rows0123, rows4567, x_low, x_high, low0123, low4567
    chunk   \rows0123, \rows4567, v24, v25, \x_low, \x_high, \low0123, \low4567
.endm

.macro second_chunk rows0123, rows4567, x_low, x_high, low0123, low4567
    chunk   \rows0123, \rows4567, v26, v27, \x_low, \x_high, \low0123, \low4567
.endm

// The scales of 8 rows as floats.
.macro widen low, high, scales
    fcvtl   \low\().4s, \scales\().4h
    fcvtl2  \high\().4s, \scales\().8h
.endm

// y of 16 rows += (their sums - 8 x_sum) by the scales a to d and x_scale. Destroys a to d and offset.
.macro add_block a, b, c, d, x_scale, x_sum, offset
    ld1     {\offset\().4s}, [seeds]
    fmul    \a\().4s, \a\().4s, \x_scale
    fmul    \b\().4s, \b\().4s, \x_scale
    mla     \offset\().4s, eight.4s, \x_sum
    fmul    \c\().4s, \c\().4s, \x_scale
    fmul    \d\().4s, \d\().4s, \x_scale
    fsub    v24.4s, v24.4s, \offset\().4s
    fsub    v25.4s, v25.4s, \offset\().4s
    fsub    v26.4s, v26.4s, \offset\().4s
    fsub    v27.4s, v27.4s, \offset\().4s
    fmla    v28.4s, v24.4s, \a\().4s
    fmla    v29.4s, v25.4s, \b\().4s
    fmla    v30.4s, v26.4s, \c\().4s
    fmla    v31.4s, v27.4s, \d\().4s
.endm

// The first three chunks of a block and its scales, v8 and v12, which stay.
.macro three_chunks
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [first], #64
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [second], #64
    first_chunk v9, v10, v0.4b[0], v1.4b[0], v4, v7
    ld1     {v16.16b, v17.16b, v18.16b}, [first], #48
    second_chunk v13, v14, v0.4b[0], v1.4b[0], v4, v7
    ld1     {v19.16b, v20.16b, v21.16b}, [second], #48
    prfm    pldl1keep, [first, ahead]
    first_chunk v11, v16, v0.4b[1], v1.4b[1], v4, v7
    prfm    pldl1keep, [second, ahead]
    second_chunk v15, v19, v0.4b[1], v1.4b[1], v4, v7
    first_chunk v17, v18, v0.4b[2], v1.4b[2], v4, v7
    second_chunk v20, v21, v0.4b[2], v1.4b[2], v4, v7
.endm

// The fourth, v16, v17 and v20, v21.
.macro end_block x_scale, x_sum
    first_chunk v16, v17, v0.4b[3], v1.4b[3], v4, v7
    widen   v9, v10, v8
    second_chunk v20, v21, v0.4b[3], v1.4b[3], v4, v7
    widen   v13, v14, v12
    add_block v9, v10, v13, v14, \x_scale, \x_sum, v11
.endm

.macro one_block
    ld1     {v0.16b, v1.16b}, [block], #32
    ld1     {v2.2s}, [block], #8
    three_chunks
    ld1     {v16.16b, v17.16b}, [first], #32
    ld1     {v20.16b, v21.16b}, [second], #32
    end_block v2.s[0], v2.s[1]
.endm

// x of the second block begins in the middle of v2.
.macro two_blocks
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [block], #64
    three_chunks
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [first], #64      // v18, v22: scales
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [second], #64
    prfm    pldl1keep, [first, ahead]
    prfm    pldl1keep, [second, ahead]
    end_block v2.s[0], v2.s[1]
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [first], #64
    ld1     {v0.16b}, [block], #16
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [second], #64
    first_chunk v19, v8, v2.4b[2], v3.4b[2], v4, v7
    prfm    pldl1keep, [first, ahead]
    second_chunk v23, v12, v2.4b[2], v3.4b[2], v1, v7
    prfm    pldl1keep, [second, ahead]
    ld1     {v19.16b, v20.16b, v21.16b}, [first], #48
    widen   v1, v4, v18
    first_chunk v9, v10, v2.4b[3], v3.4b[3], v7, v8
    ld1     {v16.16b, v17.16b, v18.16b}, [second], #48
    second_chunk v13, v14, v2.4b[3], v3.4b[3], v7, v8
    first_chunk v11, v19, v3.4b[0], v0.4b[0], v7, v8
    second_chunk v15, v16, v3.4b[0], v0.4b[0], v7, v8
    first_chunk v20, v21, v3.4b[1], v0.4b[1], v7, v8
    widen   v12, v13, v22
    second_chunk v17, v18, v3.4b[1], v0.4b[1], v7, v8
    add_block v1, v4, v12, v13, v0.s[2], v0.s[3], v9
.endm

.macro blocks_q4
    movi    mask.16b, #15
    movi    eight.4s, #8
    tbz     blocks_left, #0, .Ltwo_blocks\@
    one_block
    subs    blocks_left, blocks_left, #1
    b.eq    .Ldone\@
.Ltwo_blocks\@:
    two_blocks
    subs    blocks_left, blocks_left, #2
    b.ne    .Ltwo_blocks\@
.Ldone\@:
.endm

func gemv_f32_q4x8_q8_neon_dotprod, dotprod
    gemv_pairs blocks_q4, COLS_LOG2, Q4X8_BYTES, MAGIC
endfunc gemv_f32_q4x8_q8_neon_dotprod
