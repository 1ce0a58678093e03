// Shared by the gemvs of Q4_1, Q5_0 and Q5_1 without the dot product. The loop is in gemv_neon.h.
//
// v0-v7 x, each 4 columns repeated four times; v16-v23 weights of 8 rows; v8, v9 their fifth bits; v10-v13
// low nibbles and scratch; v24-v27 sums in int16 of rows 01, 23, 45, 67; v28, v29 y of 8 rows; v30 the
// place of a fifth bit, v31 mask
//
// q stays unsigned. A product with x is at most 31 * 128 = 3968, and an int16 lane adds 8 of them in a
// block: 31744 fits, so smlal works through the whole block.
#ifndef INGOT_KERNELS_ARM64_GEMV_MINS_NEON_H
#define INGOT_KERNELS_ARM64_GEMV_MINS_NEON_H

#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define scales_at x8
#define sums01 v24
#define sums23 v25
#define sums45 v26
#define sums67 v27
#define acc_low v28
#define acc_high v29
#define place v30
#define mask v31

// Add bit `bit` of every byte of v8 and v9 as the fifth bit of the weights of 8 rows.
.macro add_fifths rows0123, rows4567, bit
.if \bit < 4
    shl     v12.16b, v8.16b, #4 - \bit
    shl     v13.16b, v9.16b, #4 - \bit
    bit     \rows0123\().16b, v12.16b, place.16b
    bit     \rows4567\().16b, v13.16b, place.16b
.elseif \bit > 4
    ushr    v12.16b, v8.16b, #\bit - 4
    ushr    v13.16b, v9.16b, #\bit - 4
    bit     \rows0123\().16b, v12.16b, place.16b
    bit     \rows4567\().16b, v13.16b, place.16b
.else
    bit     \rows0123\().16b, v8.16b, place.16b
    bit     \rows4567\().16b, v9.16b, place.16b
.endif
.endm

// Multiply 4 columns of 8 rows
.macro products rows0123, rows4567, x_chunk, multiply
    \multiply   sums01.8h, \rows0123\().8b, \x_chunk\().8b
    \multiply\()2 sums23.8h, \rows0123\().16b, \x_chunk\().16b
    \multiply   sums45.8h, \rows4567\().8b, \x_chunk\().8b
    \multiply\()2 sums67.8h, \rows4567\().16b, \x_chunk\().16b
.endm

// Multiply four columns of 8 rows, and the four columns that are 16 further on.
.macro chunk rows0123, rows4567, x_low, x_high, column, fifths, multiply
    and     v10.16b, \rows0123\().16b, mask.16b
    and     v11.16b, \rows4567\().16b, mask.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
.if \fifths
    add_fifths v10, v11, \column
    add_fifths \rows0123, \rows4567, \column + 4
.endif
    products v10, v11, \x_low, \multiply
    products \rows0123, \rows4567, \x_high, smlal
.endm

// y of 8 rows += their sums * the scales + the minima * the sum of x; block points to x.
.macro add_block fifths, mins
    ld2r    {v0.4s, v1.4s}, [block], #8
.if \mins
    ld1     {v2.8h, v3.8h}, [scales_at]
    fcvtl   v6.4s, v3.4h
    fcvtl2  v7.4s, v3.8h
.else
    ld1     {v2.8h}, [scales_at]
.endif
.if \fifths
    saddlp  sums01.4s, sums01.8h
    saddlp  sums23.4s, sums23.8h
    saddlp  sums45.4s, sums45.8h
    saddlp  sums67.4s, sums67.8h
    fcvtl   v4.4s, v2.4h
    fcvtl2  v5.4s, v2.8h
    addp    sums01.4s, sums01.4s, sums23.4s
    addp    sums45.4s, sums45.4s, sums67.4s
.else
    addp    sums01.8h, sums01.8h, sums23.8h
    addp    sums45.8h, sums45.8h, sums67.8h
    fcvtl   v4.4s, v2.4h
    fcvtl2  v5.4s, v2.8h
    saddlp  sums01.4s, sums01.8h
    saddlp  sums45.4s, sums45.8h
.endif
.if \mins
    scvtf   v1.4s, v1.4s
.else
    shl     v1.4s, v1.4s, #4
    sub     sums01.4s, sums01.4s, v1.4s
    sub     sums45.4s, sums45.4s, v1.4s
.endif
    fmul    v4.4s, v4.4s, v0.4s
    fmul    v5.4s, v5.4s, v0.4s
    scvtf   sums01.4s, sums01.4s
    scvtf   sums45.4s, sums45.4s
.if \mins
    fmul    v1.4s, v1.4s, v0.4s
.endif
    fmla    acc_low.4s, sums01.4s, v4.4s
    fmla    acc_high.4s, sums45.4s, v5.4s
.if \mins
    fmla    acc_low.4s, v6.4s, v1.4s
    fmla    acc_high.4s, v7.4s, v1.4s
.endif
.endm

// `scales` is the size of a group's scales and minima, in bytes.
.macro blocks_mins scales, fifths, mins
.Lblock\@:
    mov     scales_at, weights
    add     weights, weights, #\scales
.if \fifths
    ld1     {v8.16b, v9.16b}, [weights], #32
.endif
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    prfm    pldl1strm, [weights, ahead]
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    chunk   v16, v17, v0, v4, 0, \fifths, smull
    prfm    pldl1strm, [weights, ahead]
    chunk   v18, v19, v1, v5, 1, \fifths, smlal
    chunk   v20, v21, v2, v6, 2, \fifths, smlal
    chunk   v22, v23, v3, v7, 3, \fifths, smlal
    subs    blocks_left, blocks_left, #1
    add_block \fifths, \mins
    b.ne    .Lblock\@
.endm

// Body of a gemv.
.macro gemv_mins blocks
    cbz     rows_left, .Ldone\@
    save_vectors
    lsr     n_blocks, n_blocks, #COLS_LOG2
    movi    mask.16b, #15
    movi    place.16b, #16
    gemv_groups \blocks, acc_low, acc_high, .Lragged\@
.Lragged\@:
    store_ragged acc_low, acc_high, out, rows_left // rows mod 8 (0 if all groups were whole)
    restore_vectors
.Ldone\@:
    ret
.endm

#endif
