// A tile for gemms of int8 weights without the dot product: Q8_0, and nibbles through a
// table, which are converted to blocks like those of Q8_0. The loops are in gemm_neon.h.
//
// v0-v7 8 columns of 4 tokens, each chunk of 4 columns repeated four times; v8-v11 weights; v12-v15
// products in int16; v16-v31 their sums in int32: for each token rows 01, 23, 45, 67.
#ifndef INGOT_KERNELS_ARM64_GEMM_INT8_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_INT8_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_neon.h"

.macro widen pairwise, rows01, rows23, rows45, rows67
    \pairwise   \rows01\().4s, v12.8h
    \pairwise   \rows23\().4s, v13.8h
    \pairwise   \rows45\().4s, v14.8h
    \pairwise   \rows67\().4s, v15.8h
.endm

// The sums of a token = or += the products of 8 columns
.macro token_pair pairwise, rows01, rows23, rows45, rows67, x_first, x_second
    token_products v12, v13, v14, v15, \x_first, v8, v9, smull
    token_products v12, v13, v14, v15, \x_second, v10, v11, smlal
    widen \pairwise, \rows01, \rows23, \rows45, \rows67
.endm

.macro pair pairwise
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [tile_acts], #16
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [tile_weights], #64
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [tile_acts], #16
    token_pair \pairwise, v16, v17, v18, v19, v0, v4
    token_pair \pairwise, v20, v21, v22, v23, v1, v5
    token_pair \pairwise, v24, v25, v26, v27, v2, v6
    token_pair \pairwise, v28, v29, v30, v31, v3, v7
.endm

// Like token_pair, but for one chunk, without additions in 16 bits
.macro token_single rows01, rows23, rows45, rows67, x_chunk
    token_products v12, v13, v14, v15, \x_chunk, v8, v9, smull
    widen sadalp, \rows01, \rows23, \rows45, \rows67
.endm

.macro block_sums
    pair    saddlp
    pair    sadalp
    pair    sadalp
    pair    sadalp
.endm

.macro block_sums_exact
.irp sum, v16.4s, v17.4s, v18.4s, v19.4s, v20.4s, v21.4s, v22.4s, v23.4s, \
      v24.4s, v25.4s, v26.4s, v27.4s, v28.4s, v29.4s, v30.4s, v31.4s
    movi    \sum, #0
.endr
    add     tile_scales, tile_weights, #256
.Lchunk\@:
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [tile_acts], #16
    ld1     {v8.16b, v9.16b}, [tile_weights], #32
    token_single v16, v17, v18, v19, v0
    token_single v20, v21, v22, v23, v1
    token_single v24, v25, v26, v27, v2
    token_single v28, v29, v30, v31, v3
    cmp     tile_weights, tile_scales
    b.ne    .Lchunk\@
.endm

// y of the tile += the sums * the scales of the tokens, v0, * the scales of the rows, v2 as fp16.
.macro add_block_sums
    addp    v16.4s, v16.4s, v17.4s
    addp    v18.4s, v18.4s, v19.4s
    fcvtl   v3.4s, v2.4h
    fcvtl2  v4.4s, v2.8h
    addp    v20.4s, v20.4s, v21.4s
    addp    v22.4s, v22.4s, v23.4s
    addp    v24.4s, v24.4s, v25.4s
    addp    v26.4s, v26.4s, v27.4s
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_out], #64
    addp    v28.4s, v28.4s, v29.4s
    addp    v30.4s, v30.4s, v31.4s
    ld1     {v12.4s, v13.4s, v14.4s, v15.4s}, [tile_out]
    each_sum scvtf, 4s
    scale_tokens v3, v4, v0
    sub     tile_out, tile_out, #64
    add_tokens fmla, v8, v9, v10, v11, v12, v13, v14, v15
    st1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_out], #64
    st1     {v12.4s, v13.4s, v14.4s, v15.4s}, [tile_out]
    sub     tile_out, tile_out, #64
.endm

// Multiply the blocks of block_q8x8 at tile_weights.
.macro tile sums
    mov     count, slice
.Lblock\@:
    add     tile_weights, tile_weights, #QUANTS
    \sums
    sub     tile_scales, tile_weights, #Q8X8_BYTES
    ld1     {v0.4s, v1.4s}, [tile_acts], #32 // d and sum
    ld1     {v2.8h}, [tile_scales]
    add_block_sums
    subs    count, count, #1
    b.ne    .Lblock\@
    add     tile_out, tile_out, #128
.endm

// ---- decoding ----

#define table_at x19            // struct nibble_table

.macro tile_decoded
    add     tile_weights, sp, #FRAME_SCRATCH
    tile    block_sums
.endm

.macro values to0, to1, to2, to3
    tbl     \to0\().16b, {v30.16b}, \to0\().16b
    tbl     \to1\().16b, {v30.16b}, \to1\().16b
    tbl     \to2\().16b, {v30.16b}, \to2\().16b
    tbl     \to3\().16b, {v30.16b}, \to3\().16b
    st1     {\to0\().16b, \to1\().16b, \to2\().16b, \to3\().16b}, [tile_weights], #64
.endm

// Decode a run of 32 columns to int8 at tile_weights.
.macro decode_run
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    and     v4.16b, v16.16b, v31.16b
    and     v5.16b, v17.16b, v31.16b
    and     v6.16b, v18.16b, v31.16b
    and     v7.16b, v19.16b, v31.16b
    and     v24.16b, v20.16b, v31.16b
    and     v25.16b, v21.16b, v31.16b
    and     v26.16b, v22.16b, v31.16b
    and     v27.16b, v23.16b, v31.16b
    values  v4, v5, v6, v7
    values  v24, v25, v26, v27
    ushr    v16.16b, v16.16b, #4
    ushr    v17.16b, v17.16b, #4
    ushr    v18.16b, v18.16b, #4
    ushr    v19.16b, v19.16b, #4
    ushr    v20.16b, v20.16b, #4
    ushr    v21.16b, v21.16b, #4
    ushr    v22.16b, v22.16b, #4
    ushr    v23.16b, v23.16b, #4
    values  v16, v17, v18, v19
    values  v20, v21, v22, v23
.endm

.macro begin_decode
    mov     count, slice
    add     tile_weights, sp, #FRAME_SCRATCH
    ld1     {v30.16b}, [table_at]
    movi    v31.16b, #15
.endm

.macro decode_t4
    begin_decode
.Lblock\@:
    ld1     {v0.8h}, [weights], #16
    st1     {v0.8h}, [tile_weights], #16
    decode_run
    subs    count, count, #1
    b.ne    .Lblock\@
.endm

.macro pop_table
    pop_pair x19, x20, 16
.endm

#endif
