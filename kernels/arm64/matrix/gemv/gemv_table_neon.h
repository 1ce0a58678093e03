// Shared by the gemvs whose nibbles go through a table, without the dot product.
// The loop is in gemv_neon.h; the loop's `ahead` comes from a struct nibble_table.
//
// v0-v3 x of columns 0-15, v4-v7 x of columns 16-31, each 4 columns repeated four times v16-v19
// nibbles of 8 rows and 8 columns twice, v20-v23 their values, v24-v27 products in int16 of rows
// 01, 23, 45, 67, v8-v11 their sums in int32; v12 scale of x's block; v14 table, v15 mask v28, v29
// y of 8 rows; v30, v31 their scales
//
// One tbl turns 16 nibbles into int8, and the table stays in a register for the whole call. No value
// is -128, so the sum of two products always fits an int16: smull and smlal multiply a byte's two
// nibbles, then sadalp adds up.
//
// If all values of the table are within +-TABLE_NARROW, as in MXFP4 and the packer's FIG4, an int16
// holds the sum of all eight products of a lane, 8 * 31 * 128 = 31744. Then smlal works through 32
// columns, and v8-v11 hold the values of every second chunk until the sums are needed. The integer
// sums are the same in both ways. FIG4 keeps the sums of its four runs in v12, v13, v30 and v31.
#ifndef INGOT_KERNELS_ARM64_GEMV_TABLE_NEON_H
#define INGOT_KERNELS_ARM64_GEMV_TABLE_NEON_H

#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define later x8                // weights to prefetch now
#define later_word w8
#define half x9                 // FIG4: 0 or 1, the half of the block of x
#define x_scale_at x10
#define scales_at x11

#define dots01 v8
#define dots23 v9
#define dots45 v10
#define dots67 v11
#define x_scale v12
#define x_sum v13
#define table v14
#define mask v15
#define total01 v12             // for FIG4, which does not keep x_scale, x_sum and scales
#define total23 v13
#define total45 v30
#define total67 v31
#define acc_low v28
#define acc_high v29
#define scales_low v30
#define scales_high v31

// Compute the products of one chunk of 8 rows.
.macro products rows0123, rows4567, x_chunk, multiply
    \multiply   v24.8h, \rows0123\().8b, \x_chunk\().8b
    \multiply\()2 v25.8h, \rows0123\().16b, \x_chunk\().16b
    \multiply   v26.8h, \rows4567\().8b, \x_chunk\().8b
    \multiply\()2 v27.8h, \rows4567\().16b, \x_chunk\().16b
.endm

.macro values rows0123, rows4567
    and     v20.16b, \rows0123\().16b, mask.16b
    and     v21.16b, \rows4567\().16b, mask.16b
    ushr    v22.16b, \rows0123\().16b, #4
    ushr    v23.16b, \rows4567\().16b, #4
    tbl     v20.16b, {table.16b}, v20.16b
    tbl     v21.16b, {table.16b}, v21.16b
    tbl     v22.16b, {table.16b}, v22.16b
    tbl     v23.16b, {table.16b}, v23.16b
.endm

.macro widen_products pairwise, rows01, rows23, rows45, rows67
    \pairwise \rows01\().4s, v24.8h
    \pairwise \rows23\().4s, v25.8h
    \pairwise \rows45\().4s, v26.8h
    \pairwise \rows67\().4s, v27.8h
.endm

// Multiply four columns of 8 rows, and the four columns that are 16 further on.
.macro two_chunks rows0123, rows4567, x_low, x_high, pairwise, to:vararg
    values  \rows0123, \rows4567
    products v20, v21, \x_low, smull
    products v22, v23, \x_high, smlal
    widen_products \pairwise, \to
.endm

// y += the sums of 8 rows * their scales.
.macro add_dots
    fmul    v16.4s, scales_low.4s, x_scale.4s
    fmul    v17.4s, scales_high.4s, x_scale.4s
    addp    dots01.4s, dots01.4s, dots23.4s
    addp    dots45.4s, dots45.4s, dots67.4s
    scvtf   dots01.4s, dots01.4s
    scvtf   dots45.4s, dots45.4s
    fmla    acc_low.4s, dots01.4s, v16.4s
    fmla    acc_high.4s, dots45.4s, v17.4s
.endm

// Load the scales of 8 rows as floats.
.macro load_scales
    ld1     {scales_high.8h}, [weights], #16
    fcvtl   scales_low.4s, scales_high.4h
    fcvtl2  scales_high.4s, scales_high.8h
.endm

// Multiply 32 columns; the sums go to `to`, or are added there.
.macro multiply_run pairwise, to:vararg
    add     later, weights, ahead
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    prfm    pldl1strm, [later]
    two_chunks v16, v17, v0, v4, \pairwise, \to
    prfm    pldl1strm, [later, #64]
    two_chunks v18, v19, v1, v5, sadalp, \to
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    two_chunks v16, v17, v2, v6, sadalp, \to
    two_chunks v18, v19, v3, v7, sadalp, \to
.endm

// Add the products of 32 columns to y.
.macro add_run
    multiply_run saddlp, dots01, dots23, dots45, dots67
    ld2r    {x_scale.4s, x_sum.4s}, [block], #8
    add_dots
.endm

// Look up the values of two chunks of nibbles while the previous four registers are multiplied.
.macro narrow_chunk rows0123, rows4567, low0123, low4567, high0123, high4567, b0, b1, b2, b3, \
                    x_low, x_high, multiply
    and     \low0123\().16b, \rows0123\().16b, mask.16b
    \multiply v24.8h, \b0\().8b, \x_low\().8b
    and     \low4567\().16b, \rows4567\().16b, mask.16b
    \multiply\()2 v25.8h, \b0\().16b, \x_low\().16b
    ushr    \high0123\().16b, \rows0123\().16b, #4
    \multiply v26.8h, \b1\().8b, \x_low\().8b
    ushr    \high4567\().16b, \rows4567\().16b, #4
    \multiply\()2 v27.8h, \b1\().16b, \x_low\().16b
    tbl     \low0123\().16b, {table.16b}, \low0123\().16b
    smlal   v24.8h, \b2\().8b, \x_high\().8b
    tbl     \low4567\().16b, {table.16b}, \low4567\().16b
    smlal2  v25.8h, \b2\().16b, \x_high\().16b
    tbl     \high0123\().16b, {table.16b}, \high0123\().16b
    smlal   v26.8h, \b3\().8b, \x_high\().8b
    tbl     \high4567\().16b, {table.16b}, \high4567\().16b
    smlal2  v27.8h, \b3\().16b, \x_high\().16b
.endm

// v24-v27 = the sums of 32 columns, for a table within +-TABLE_NARROW.
.macro multiply_run_narrow
    add     later, weights, ahead
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    values  v16, v17
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    prfm    pldl1strm, [later]
    narrow_chunk v18, v19, v8, v9, v10, v11, v20, v21, v22, v23, v0, v4, smull
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    prfm    pldl1strm, [later, #64]
    narrow_chunk v16, v17, v20, v21, v22, v23, v8, v9, v10, v11, v1, v5, smlal
    narrow_chunk v18, v19, v8, v9, v10, v11, v20, v21, v22, v23, v2, v6, smlal
    products v8, v9, v3, smlal
    products v10, v11, v7, smlal
.endm

.macro add_run_narrow
    multiply_run_narrow
    ld2r    {x_scale.4s, x_sum.4s}, [block], #8
    widen_products saddlp, dots01, dots23, dots45, dots67
    add_dots
.endm

// ---- FIG4: one sum for 128 columns ---------------------------------------------------------

.macro collect_run pairwise
    multiply_run \pairwise, total01, total23, total45, total67
.endm

.macro collect_run_narrow pairwise
    multiply_run_narrow
    widen_products \pairwise, total01, total23, total45, total67
.endm

// y += the totals; block points past the half of x's block to which the totals belong.
.macro add_totals
    sub     half, n_blocks, blocks_left
    and     half, half, #1
    sub     x_scale_at, block, half, lsl #FIG4_COLS_LOG2
    add     x_scale_at, x_scale_at, #Q8K_SCALE - FIG4_COLS
    ld1r    {v0.4s}, [x_scale_at]
    ld1     {v2.8h}, [scales_at]
    add     block, block, half, lsl #5  // move from the second half to the next block
    add     block, block, half, lsl #4
    fcvtl   v1.4s, v2.4h
    fcvtl2  v2.4s, v2.8h
    addp    total01.4s, total01.4s, total23.4s
    addp    total45.4s, total45.4s, total67.4s
    fmul    v1.4s, v1.4s, v0.4s
    fmul    v2.4s, v2.4s, v0.4s
    scvtf   total01.4s, total01.4s
    scvtf   total45.4s, total45.4s
    fmla    acc_low.4s, total01.4s, v1.4s
    fmla    acc_high.4s, total45.4s, v2.4s
.endm

.macro blocks_of_four run
.Lblock\@:
    mov     scales_at, weights
    add     weights, weights, #QUANTS
    \run    saddlp
    \run    sadalp
    \run    sadalp
    \run    sadalp
    add_totals
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

// ---- blocks ---------------------------------------------------------------------------------

.macro blocks_of_one run
.Lblock\@:
    load_scales
    \run
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

.macro blocks_t4
    blocks_of_one add_run
.endm

.macro blocks_t4_narrow
    blocks_of_one add_run_narrow
.endm

.macro blocks_fig4
    blocks_of_four collect_run
.endm

.macro blocks_fig4_narrow
    blocks_of_four collect_run_narrow
.endm

// Body of a gemv; `narrow_blocks` is used for a table within +-TABLE_NARROW.
.macro gemv_table blocks, narrow_blocks, cols_log2
    cbz     rows_left, .Ldone\@
    save_vectors
    lsr     n_blocks, n_blocks, #\cols_log2
    ld1     {table.16b}, [ahead], #16
    ldr     ahead, [ahead]
    movi    mask.16b, #15
    abs     v0.16b, table.16b
    umaxv   b0, v0.16b
    umov    later_word, v0.b[0]
    cmp     later_word, #TABLE_NARROW
    b.ls    .Lnarrow\@
    gemv_groups \blocks, acc_low, acc_high, .Lragged\@
    b       .Lragged\@
.Lnarrow\@:
    gemv_groups \narrow_blocks, acc_low, acc_high, .Lragged\@
.Lragged\@:
    store_ragged acc_low, acc_high, out, rows_left // rows mod 8 (0 if all groups were whole)
    restore_vectors
.Ldone\@:
    ret
.endm

#endif
