// Prepares the weights of Q4_1, Q5_0 and Q5_1 for the tiles of a gemm,
// together with gemm_prepare_neon.h. q becomes int8 (Q5_0: q - 16); each
// block has 8 scales and the magic, and 8 minima if the type has them.
#ifndef INGOT_KERNELS_ARM64_GEMM_PREPARE_MINS_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PREPARE_MINS_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

#define MINS_SLICE 22
#define PREPARED_MINS 32
#define MINS_SCRATCH (MINS_SLICE * (256 + PREPARED_SCALES + PREPARED_MINS))

// Add bit `bit` of the bytes of v4 and v5, which hold 8 rows, as the fifth bit of two registers of
// weights.
.macro add_fifths rows0123, rows4567, bit
.if \bit < 4
    shl     v0.16b, v4.16b, #4 - \bit
    shl     v1.16b, v5.16b, #4 - \bit
    bit     \rows0123\().16b, v0.16b, v6.16b
    bit     \rows4567\().16b, v1.16b, v6.16b
.elseif \bit > 4
    ushr    v0.16b, v4.16b, #\bit - 4
    ushr    v1.16b, v5.16b, #\bit - 4
    bit     \rows0123\().16b, v0.16b, v6.16b
    bit     \rows4567\().16b, v1.16b, v6.16b
.else
    bit     \rows0123\().16b, v4.16b, v6.16b
    bit     \rows4567\().16b, v5.16b, v6.16b
.endif
.endm

// Split four columns of 8 rows: the low nibbles go to two registers, the high nibbles stay; for
// Q5_0, subtract 16.
.macro part_chunk rows0123, rows4567, low0123, low4567, column, fifths, mins
    and     \low0123\().16b, \rows0123\().16b, v7.16b
    and     \low4567\().16b, \rows4567\().16b, v7.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
.if \fifths
    add_fifths \low0123, \low4567, \column
    add_fifths \rows0123, \rows4567, \column + 4
.endif
.if \mins == 0
    sub     \low0123\().16b, \low0123\().16b, v6.16b
    sub     \low4567\().16b, \low4567\().16b, v6.16b
    sub     \rows0123\().16b, \rows0123\().16b, v6.16b
    sub     \rows4567\().16b, \rows4567\().16b, v6.16b
.endif
.endm

// v3 is the magic.
.macro prepare_scales_mins mins
.if \mins
    ld1     {v0.8h, v1.8h}, [weights], #32
    fcvtl   v4.4s, v1.4h
    fcvtl2  v5.4s, v1.8h
.else
    ld1     {v0.8h}, [weights], #16
.endif
    fcvtl   v1.4s, v0.4h
    fcvtl2  v2.4s, v0.8h
    st1     {v1.4s, v2.4s, v3.4s}, [w_scale], #PREPARED_SCALES
.if \mins
    st1     {v4.4s, v5.4s}, [w_scale], #PREPARED_MINS
.endif
.endm

.macro prepare_mins fifths, mins
    add     w_scale, sp, #FRAME_SCRATCH
    add     w_block, w_scale, #MINS_SLICE * (PREPARED_SCALES + PREPARED_MINS)
    mov     quants, w_block
    mov     factors, w_scale
    place_magic MAGIC
    movi    v7.16b, #15
    movi    v6.16b, #16
    mov     blocks_left, slice
.Lblock\@:
    prepare_scales_mins \mins
.if \fifths
    ld1     {v4.16b, v5.16b}, [weights], #32
.endif
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    part_chunk v16, v17, v24, v25, 0, \fifths, \mins
    part_chunk v18, v19, v26, v27, 1, \fifths, \mins
    part_chunk v20, v21, v28, v29, 2, \fifths, \mins
    part_chunk v22, v23, v30, v31, 3, \fifths, \mins
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [w_block], #64
    st1     {v28.16b, v29.16b, v30.16b, v31.16b}, [w_block], #64
    subs    blocks_left, blocks_left, #1
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [w_block], #64
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [w_block], #64
    b.ne    .Lblock\@
    mov     step, #Q8X4_BYTES - Q8X4_SCALE // the tile's step skips d and sum
.endm

// v12 = the sums of x of four tokens * the tokens' scales in v11; on entry v12 has the sums as
// integers.
.macro scale_token_sums
    scvtf   v12.4s, v12.4s
    fmul    v12.4s, v12.4s, v11.4s
.endm

// Multiply a tile of a type with minima.
.macro block_with_mins
    dot_32_columns seeds, #64
    ld1     {v8.4s, v9.4s, v10.4s}, [w_scale], #PREPARED_SCALES
    ld1     {v11.4s, v12.4s}, [x_block], step
    add_scaled
    ld1     {v14.4s, v15.4s}, [w_scale], #PREPARED_MINS
    scale_token_sums
    fmla    v24.4s, v14.4s, v12.s[0]
    fmla    v25.4s, v15.4s, v12.s[0]
    fmla    v26.4s, v14.4s, v12.s[1]
    fmla    v27.4s, v15.4s, v12.s[1]
    fmla    v28.4s, v14.4s, v12.s[2]
    fmla    v29.4s, v15.4s, v12.s[2]
    fmla    v30.4s, v14.4s, v12.s[3]
    fmla    v31.4s, v15.4s, v12.s[3]
.endm

.macro multiply_with_mins
.Lblock\@:
    block_with_mins
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

#endif
