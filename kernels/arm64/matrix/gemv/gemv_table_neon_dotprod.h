// Shared by the gemvs whose nibbles go through a table, with the dot product. The loop is in
// gemv_neon_dotprod.h; the loop's `ahead` comes from a struct nibble_table.
//
// v0, v1 x of 32 columns, v2 its scale; v8-v11 and v16-v19 weights of the two groups, v12-v15 those
// of the next 16 columns; v3, v4 values of low nibbles; v5 mask, v6 table, v7 MAGIC; v20-v23 scales of
// 16 rows; v24-v27 their sums
#ifndef INGOT_KERNELS_ARM64_GEMV_TABLE_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMV_TABLE_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemv/gemv_neon_dotprod.h"

#define half x11                // FIG4: 0 or 1, the half of x's block
#define x_scale_at x12
#define mask v5
#define table v6
#define magic v7

// Load the table before gemv_pairs, which does not change the register.
.macro load_table
    ld1     {table.16b}, [ahead], #16
    ldr     ahead, [ahead]
.endm

// Multiply four columns of 8 rows, and the four columns that are 16 further on.
.macro chunk rows0123, rows4567, sum0123, sum4567, column
    and     v3.16b, \rows0123\().16b, mask.16b
    and     v4.16b, \rows4567\().16b, mask.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
    tbl     v3.16b, {table.16b}, v3.16b
    tbl     v4.16b, {table.16b}, v4.16b
    tbl     \rows0123\().16b, {table.16b}, \rows0123\().16b
    tbl     \rows4567\().16b, {table.16b}, \rows4567\().16b
    sdot    \sum0123\().4s, v3.16b, v0.4b[\column]
    sdot    \sum4567\().4s, v4.16b, v0.4b[\column]
    sdot    \sum0123\().4s, \rows0123\().16b, v1.4b[\column]
    sdot    \sum4567\().4s, \rows4567\().16b, v1.4b[\column]
.endm

// Load the scales of 16 rows as floats.
.macro load_scales
    ld1     {v21.8h}, [first], #16
    ld1     {v23.8h}, [second], #16
    fcvtl   v20.4s, v21.4h
    fcvtl2  v21.4s, v21.8h
    fcvtl   v22.4s, v23.4h
    fcvtl2  v23.4s, v23.8h
.endm

// Add the products of 32 columns to the sums of 16 rows.
.macro multiply_run
    ld1     {v0.16b, v1.16b}, [block], #32
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [first], #64
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [second], #64
    prfm    pldl1keep, [first, ahead]
    chunk   v16, v17, v24, v25, 0
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [first], #64
    chunk   v8, v9, v26, v27, 0
    prfm    pldl1keep, [second, ahead]
    chunk   v18, v19, v24, v25, 1
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [second], #64
    chunk   v10, v11, v26, v27, 1
    prfm    pldl1keep, [first, ahead]
    chunk   v12, v13, v24, v25, 2
    chunk   v16, v17, v26, v27, 2
    prfm    pldl1keep, [second, ahead]
    chunk   v14, v15, v24, v25, 3
    chunk   v18, v19, v26, v27, 3
.endm

.macro begin_sums
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
.endm

// y += the sums * the scales of 16 rows * the scale of x in the first word of v2.
.macro add_sums
    fmul    v8.4s, v20.4s, v2.s[0]
    fmul    v9.4s, v21.4s, v2.s[0]
    fsub    v24.4s, v24.4s, magic.4s
    fsub    v25.4s, v25.4s, magic.4s
    fmul    v10.4s, v22.4s, v2.s[0]
    fmul    v11.4s, v23.4s, v2.s[0]
    fsub    v26.4s, v26.4s, magic.4s
    fsub    v27.4s, v27.4s, magic.4s
    fmla    v28.4s, v24.4s, v8.4s
    fmla    v29.4s, v25.4s, v9.4s
    fmla    v30.4s, v26.4s, v10.4s
    fmla    v31.4s, v27.4s, v11.4s
.endm

.macro begin_blocks
    movi    mask.16b, #15
    ld1     {magic.4s}, [seeds]
.endm

.macro blocks_t4
    begin_blocks
.Lblock\@:
    load_scales
    begin_sums
    multiply_run
    ld1     {v2.2s}, [block], #8
    add_sums
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

// The sums of 128 columns stay below 128 * 127 * 128 < 2^21, as MAGIC demands.
.macro blocks_fig4
    begin_blocks
.Lblock\@:
    load_scales
    begin_sums
    sub     half, n_blocks, blocks_left
    and     half, half, #1
    sub     x_scale_at, block, half, lsl #FIG4_COLS_LOG2
    ldr     s2, [x_scale_at, #Q8K_SCALE]
    multiply_run
    multiply_run
    multiply_run
    multiply_run
    add     block, block, half, lsl #5  // move from the second half to the next block
    add     block, block, half, lsl #4
    add_sums
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

#endif
