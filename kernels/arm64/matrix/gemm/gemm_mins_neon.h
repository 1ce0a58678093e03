// Shared by the gemms of Q4_1, Q5_0 and Q5_1 without the dot product: blocks are unpacked once for
// 64 tokens, to a scratch buffer with scales, minima and q as int8. The loops are in gemm_neon.h.
//
// In a tile: v0-v3 columns of 4 tokens, each chunk of 4 columns repeated four times; v4-v7 weights;
// v16-v31 sums in int16: for each token rows 01, 23, 45, 67; then v8-v15 y.
//
// q stays unsigned. A product with x is at most 31 * 128 = 3968, and an int16 lane adds 8 of them in a
// block: 31744 fits, so smlal works through the whole block. For Q5_0, 16 sum(x) is subtracted afterwards.
#ifndef INGOT_KERNELS_ARM64_GEMM_MINS_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_MINS_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_neon.h"

#define SLICE_BLOCKS 8
#define DECODED_BYTES (Q8X8_BYTES + QUANTS)
#define SCRATCH_BYTES (SLICE_BLOCKS * DECODED_BYTES)

// Add bit `bit` of every byte of v4 and v5 as the fifth bit of the weights of 8 rows.
.macro add_fifths rows0123, rows4567, bit
.if \bit < 4
    shl     v6.16b, v4.16b, #4 - \bit
    shl     v7.16b, v5.16b, #4 - \bit
    bit     \rows0123\().16b, v6.16b, v30.16b
    bit     \rows4567\().16b, v7.16b, v30.16b
.elseif \bit > 4
    ushr    v6.16b, v4.16b, #\bit - 4
    ushr    v7.16b, v5.16b, #\bit - 4
    bit     \rows0123\().16b, v6.16b, v30.16b
    bit     \rows4567\().16b, v7.16b, v30.16b
.else
    bit     \rows0123\().16b, v4.16b, v30.16b
    bit     \rows4567\().16b, v5.16b, v30.16b
.endif
.endm

// Split four columns of 8 rows: the low nibbles go to two registers, the high nibbles stay.
.macro part_chunk rows0123, rows4567, low0123, low4567, column, fifths
    and     \low0123\().16b, \rows0123\().16b, v31.16b
    and     \low4567\().16b, \rows4567\().16b, v31.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
.if \fifths
    add_fifths \low0123, \low4567, \column
    add_fifths \rows0123, \rows4567, \column + 4
.endif
.endm

.macro decode_mins fifths, mins
    mov     count, slice
    add     tile_weights, sp, #FRAME_SCRATCH
    movi    v30.16b, #16
    movi    v31.16b, #15
    movi    v1.8h, #0
.Lblock\@:
.if \mins
    ld1     {v0.8h, v1.8h}, [weights], #32
.else
    ld1     {v0.8h}, [weights], #16
.endif
    st1     {v0.8h, v1.8h}, [tile_weights], #32
.if \fifths
    ld1     {v4.16b, v5.16b}, [weights], #32
.endif
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    part_chunk v16, v17, v8, v9, 0, \fifths
    part_chunk v18, v19, v10, v11, 1, \fifths
    part_chunk v20, v21, v24, v25, 2, \fifths
    part_chunk v22, v23, v26, v27, 3, \fifths
    st1     {v8.16b, v9.16b, v10.16b, v11.16b}, [tile_weights], #64
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [tile_weights], #64
    subs    count, count, #1
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [tile_weights], #64
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [tile_weights], #64
    b.ne    .Lblock\@
.endm

// v16, v18 to v30 = the sums as int32; with q of 5
// bits, adding the lanes as int16 would overflow.
.macro fold_wide
    saddlp  v16.4s, v16.8h
    saddlp  v17.4s, v17.8h
    saddlp  v18.4s, v18.8h
    saddlp  v19.4s, v19.8h
    saddlp  v20.4s, v20.8h
    saddlp  v21.4s, v21.8h
    saddlp  v22.4s, v22.8h
    saddlp  v23.4s, v23.8h
    saddlp  v24.4s, v24.8h
    saddlp  v25.4s, v25.8h
    saddlp  v26.4s, v26.8h
    saddlp  v27.4s, v27.8h
    saddlp  v28.4s, v28.8h
    saddlp  v29.4s, v29.8h
    saddlp  v30.4s, v30.8h
    saddlp  v31.4s, v31.8h
    addp    v16.4s, v16.4s, v17.4s
    addp    v18.4s, v18.4s, v19.4s
    addp    v20.4s, v20.4s, v21.4s
    addp    v22.4s, v22.4s, v23.4s
    addp    v24.4s, v24.4s, v25.4s
    addp    v26.4s, v26.4s, v27.4s
    addp    v28.4s, v28.4s, v29.4s
    addp    v30.4s, v30.4s, v31.4s
.endm

// Subtract 16 times v1, the sums of the tokens' x.
.macro take_bias
    movi    v7.4s, #16
    mls     v16.4s, v7.4s, v1.s[0]
    mls     v18.4s, v7.4s, v1.s[0]
    mls     v20.4s, v7.4s, v1.s[1]
    mls     v22.4s, v7.4s, v1.s[1]
    mls     v24.4s, v7.4s, v1.s[2]
    mls     v26.4s, v7.4s, v1.s[2]
    mls     v28.4s, v7.4s, v1.s[3]
    mls     v30.4s, v7.4s, v1.s[3]
.endm

// y of 4 tokens, v8-v15, += the minima v5, v6 * the sums of the tokens, v1, * their scales, v0.
.macro add_minima
    scvtf   v1.4s, v1.4s
    fmul    v1.4s, v1.4s, v0.4s
    fmla    v8.4s, v5.4s, v1.s[0]
    fmla    v9.4s, v6.4s, v1.s[0]
    fmla    v10.4s, v5.4s, v1.s[1]
    fmla    v11.4s, v6.4s, v1.s[1]
    fmla    v12.4s, v5.4s, v1.s[2]
    fmla    v13.4s, v6.4s, v1.s[2]
    fmla    v14.4s, v5.4s, v1.s[3]
    fmla    v15.4s, v6.4s, v1.s[3]
.endm

.macro tile_mins fifths, mins
    add     tile_weights, sp, #FRAME_SCRATCH
    mov     count, slice
.Lblock\@:
    mov     tile_scales, tile_weights
    add     tile_weights, tile_weights, #2 * QUANTS
    two_chunk_products smull
    two_chunk_products smlal
    two_chunk_products smlal
    two_chunk_products smlal
    ld1     {v0.4s, v1.4s}, [tile_acts], #32 // d and sum
    ld1     {v2.8h, v3.8h}, [tile_scales]
.if \fifths
    fold_wide
.else
    fold_sums
.endif
.if \mins
    fcvtl   v5.4s, v3.4h
    fcvtl2  v6.4s, v3.8h
.else
    take_bias
.endif
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_out], #64
    fcvtl   v3.4s, v2.4h
    fcvtl2  v4.4s, v2.8h
    ld1     {v12.4s, v13.4s, v14.4s, v15.4s}, [tile_out]
    each_sum scvtf, 4s
    sub     tile_out, tile_out, #64
    scale_tokens v3, v4, v0
    subs    count, count, #1
    add_tokens fmla, v8, v9, v10, v11, v12, v13, v14, v15
.if \mins
    add_minima
.endif
    st1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_out], #64
    st1     {v12.4s, v13.4s, v14.4s, v15.4s}, [tile_out]
    sub     tile_out, tile_out, #64
    b.ne    .Lblock\@
    add     tile_out, tile_out, #128
.endm

// The body of a gemm; the arguments `decode` and `tile` are macros of the type.
.macro gemm_mins decode, tile
    gemm_begin SCRATCH_BYTES, COLS_LOG2, Q8X4_BYTES
    gemm_loops \decode, \tile, Q8X4_BYTES, SLICE_BLOCKS
    gemm_end SCRATCH_BYTES
.endm

#endif
