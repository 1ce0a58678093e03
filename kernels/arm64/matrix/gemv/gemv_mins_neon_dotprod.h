// Shared by the gemvs of Q4_1, Q5_0 and Q5_1 with the dot product. The loop is in gemv_neon_dotprod.h.
//
// v0, v1 x of 32 columns, v2 its scale and sum; v16-v19 and v8-v11 weights of the two groups, 16 columns at
// a time; v20, v21 and v22, v23 their fifth bits; v3, v4 low nibbles; v12-v15 fifth bits in their place;
// v5 mask, v6 the place of a fifth bit, v7 sixteen; v24-v27 sums of 16 rows; then v8-v11 scales, v12-v15
// minima
//
// q stays unsigned. For Q5_0, 16 sum(x) is subtracted together with MAGIC, in one
// subtraction of exact floats. A minimum is multiplied by (sum(x) times the scale of x).
#ifndef INGOT_KERNELS_ARM64_GEMV_MINS_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMV_MINS_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemv/gemv_neon_dotprod.h"

#define first_scales x11
#define second_scales x12
#define mask v5
#define place v6
#define sixteen v7

// Add bit `bit` of every byte of `bits` as the fifth bit of the weights.
.macro add_fifth weights, bits, bit, scratch
.if \bit < 4
    shl     \scratch\().16b, \bits\().16b, #4 - \bit
    bit     \weights\().16b, \scratch\().16b, place.16b
.elseif \bit > 4
    ushr    \scratch\().16b, \bits\().16b, #\bit - 4
    bit     \weights\().16b, \scratch\().16b, place.16b
.else
    bit     \weights\().16b, \bits\().16b, place.16b
.endif
.endm

// Multiply four columns of 8 rows, and the four columns that are 16 further on.
.macro chunk rows0123, rows4567, sum0123, sum4567, bits0123, bits4567, column, fifths
    and     v3.16b, \rows0123\().16b, mask.16b
    and     v4.16b, \rows4567\().16b, mask.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
.if \fifths
    add_fifth v3, \bits0123, \column, v12
    add_fifth v4, \bits4567, \column, v13
    add_fifth \rows0123, \bits0123, \column + 4, v14
    add_fifth \rows4567, \bits4567, \column + 4, v15
.endif
    sdot    \sum0123\().4s, v3.16b, v0.4b[\column]
    sdot    \sum4567\().4s, v4.16b, v0.4b[\column]
    sdot    \sum0123\().4s, \rows0123\().16b, v1.4b[\column]
    sdot    \sum4567\().4s, \rows4567\().16b, v1.4b[\column]
.endm

.macro first_chunk rows0123, rows4567, column, fifths
    chunk   \rows0123, \rows4567, v24, v25, v20, v21, \column, \fifths
.endm

.macro second_chunk rows0123, rows4567, column, fifths
    chunk   \rows0123, \rows4567, v26, v27, v22, v23, \column, \fifths
.endm

// v8-v11 = the scales of 16 rows, v12-v15 their minima.
.macro load_scales mins
.if \mins
    ld1     {v13.8h, v14.8h}, [first_scales]
    ld1     {v15.8h, v16.8h}, [second_scales]
    fcvtl   v8.4s, v13.4h
    fcvtl2  v9.4s, v13.8h
    fcvtl   v10.4s, v15.4h
    fcvtl2  v11.4s, v15.8h
    fcvtl   v12.4s, v14.4h
    fcvtl2  v13.4s, v14.8h
    fcvtl   v14.4s, v16.4h
    fcvtl2  v15.4s, v16.8h
.else
    ld1     {v9.8h}, [first_scales]
    ld1     {v11.8h}, [second_scales]
    fcvtl   v8.4s, v9.4h
    fcvtl2  v9.4s, v9.8h
    fcvtl   v10.4s, v11.4h
    fcvtl2  v11.4s, v11.8h
.endif
.endm

// y of 16 rows += their sums * the scales + the minima * the sum of x.
.macro add_sums mins
    ld1     {v16.4s}, [seeds]
.if \mins
    scvtf   v3.2s, v2.2s
.else
    mla     v16.4s, sixteen.4s, v2.s[1]
.endif
    fmul    v8.4s, v8.4s, v2.s[0]
    fmul    v9.4s, v9.4s, v2.s[0]
    fsub    v24.4s, v24.4s, v16.4s
    fsub    v25.4s, v25.4s, v16.4s
    fmul    v10.4s, v10.4s, v2.s[0]
    fmul    v11.4s, v11.4s, v2.s[0]
    fsub    v26.4s, v26.4s, v16.4s
    fsub    v27.4s, v27.4s, v16.4s
.if \mins
    fmul    v3.2s, v3.2s, v2.s[0]       // sum(x) times the scale of x, in the second word
.endif
    fmla    v28.4s, v24.4s, v8.4s
    fmla    v29.4s, v25.4s, v9.4s
    fmla    v30.4s, v26.4s, v10.4s
    fmla    v31.4s, v27.4s, v11.4s
.if \mins
    fmla    v28.4s, v12.4s, v3.s[1]
    fmla    v29.4s, v13.4s, v3.s[1]
    fmla    v30.4s, v14.4s, v3.s[1]
    fmla    v31.4s, v15.4s, v3.s[1]
.endif
.endm

// `scales` is the size of a group's scales and minima, in bytes.
.macro blocks_mins scales, fifths, mins
    movi    mask.16b, #15
    movi    place.16b, #16
    movi    sixteen.4s, #16
.Lblock\@:
    mov     first_scales, first
    mov     second_scales, second
    add     first, first, #\scales
    add     second, second, #\scales
    ld1     {v0.16b, v1.16b}, [block], #32
.if \fifths
    ld1     {v20.16b, v21.16b}, [first], #32
    ld1     {v22.16b, v23.16b}, [second], #32
.endif
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [first], #64
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [second], #64
    first_chunk v16, v17, 0, \fifths
    prfm    pldl1keep, [first, ahead]
    second_chunk v8, v9, 0, \fifths
    first_chunk v18, v19, 1, \fifths
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [first], #64
    prfm    pldl1keep, [second, ahead]
    second_chunk v10, v11, 1, \fifths
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [second], #64
    first_chunk v16, v17, 2, \fifths
    prfm    pldl1keep, [first, ahead]
    second_chunk v8, v9, 2, \fifths
    ld1     {v2.2s}, [block], #8
    first_chunk v18, v19, 3, \fifths
    prfm    pldl1keep, [second, ahead]
    second_chunk v10, v11, 3, \fifths
    load_scales \mins
    subs    blocks_left, blocks_left, #1
    add_sums \mins
    b.ne    .Lblock\@
.endm

#endif
