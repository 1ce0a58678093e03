// The gemvs of TQ2_0, Q2_0 and Q1_0 without the dot product; the loop over rows is in gemv_neon.h.
//
// With one bit: v0-v3 x of 4 chunks, each 4 columns repeated four times; v4, v5 x where the bit is
// set; v16-v23 bytes of 4 chunks; v24, v25 sums in int16; v28, v29 y of 8 rows; v8 scale of x,
// v9-v12 scratch, v13 sums of x, one for each part of 256 columns; v30 mask
#ifndef INGOT_KERNELS_ARM64_FEW_NEON_H
#define INGOT_KERNELS_ARM64_FEW_NEON_H

#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define later x8                // weights to prefetch now
#define quants_at x9
#define scales_at x10
#define count x11
#define x_end x12               // where the sums and the scale of x's block are
#define x_at x13
#define x_step x14
#define zeros sp               // 64 bytes of zeros

#define FRAME_BYTES 64

#define acc_low v28
#define acc_high v29
#define mask v30

// v13 = the sums of x over each 64, 128 or (with one bit) 256 columns; v8 = the scale of x.
.macro take_sums parts
    add     x_end, block, #Q8K_SUM
    ld1     {v9.8h, v10.8h}, [x_end], #32
    ld1r    {v8.4s}, [x_end]
    addp    v9.8h, v9.8h, v10.8h        // sums of 32 columns: 4096 at most
    addp    v9.8h, v9.8h, v9.8h         // 64
.if \parts < 4
    addp    v9.8h, v9.8h, v9.8h         // 128: 16384
.endif
.if \parts < 2
    saddlp  v13.4s, v9.8h
.else
    sxtl    v13.4s, v9.4h
.endif
.endm

// acc += (the sums v24 and v26 as floats) * the next scales
.macro add_part
    ld1     {v9.8h}, [scales_at], #16
    scvtf   v24.4s, v24.4s
    scvtf   v26.4s, v26.4s
    fcvtl   v10.4s, v9.4h
    fcvtl2  v11.4s, v9.8h
    fmul    v10.4s, v10.4s, v8.4s
    fmul    v11.4s, v11.4s, v8.4s
    fmla    acc_low.4s, v24.4s, v10.4s
    fmla    acc_high.4s, v26.4s, v11.4s
.endm

// ---- two bits ----------------------------------------------------------------------------------
//
// v0-v3 x: 16 columns of each field (the fields are 64 columns apart); v4-v7 the bytes of 2 chunks,
// v12, v13 one of their fields; v14, v15 x of a chunk, repeated four times; v16-v27 and v8-v11 sums
// in int16, of each field rows 01, 23, 45, 67; v30, v31 masks. An int16 lane adds 16 products.
// Field 1 is not shifted down, so its sums are at most 16 * 12 * 128 = 24576.

#define low_mask v30
#define next_mask v31

// Multiply 4 columns in each of the fields.
.macro chunk_two low, high, column
    dup     v14.4s, v0.s[\column]
    and     v12.16b, \low\().16b, low_mask.16b
    and     v13.16b, \high\().16b, low_mask.16b
    dup     v15.4s, v1.s[\column]
    smlal   v16.8h, v12.8b, v14.8b
    smlal2  v17.8h, v12.16b, v14.16b
    and     v12.16b, \low\().16b, next_mask.16b
    smlal   v18.8h, v13.8b, v14.8b
    smlal2  v19.8h, v13.16b, v14.16b
    and     v13.16b, \high\().16b, next_mask.16b
    dup     v14.4s, v2.s[\column]
    smlal   v20.8h, v12.8b, v15.8b
    smlal2  v21.8h, v12.16b, v15.16b
    ushr    v12.16b, \low\().16b, #4
    smlal   v22.8h, v13.8b, v15.8b
    smlal2  v23.8h, v13.16b, v15.16b
    ushr    v13.16b, \high\().16b, #4
    and     v12.16b, v12.16b, low_mask.16b
    ushr    \low\().16b, \low\().16b, #6
    dup     v15.4s, v3.s[\column]
    and     v13.16b, v13.16b, low_mask.16b
    ushr    \high\().16b, \high\().16b, #6
    smlal   v24.8h, v12.8b, v14.8b
    smlal2  v25.8h, v12.16b, v14.16b
    smlal   v26.8h, v13.8b, v14.8b
    smlal2  v27.8h, v13.16b, v14.16b
    smlal   v8.8h, \low\().8b, v15.8b
    smlal2  v9.8h, \low\().16b, v15.16b
    smlal   v10.8h, \high\().8b, v15.8b
    smlal2  v11.8h, \high\().16b, v15.16b
.endm

// Add up 256 columns, from quants_at on.
.macro fields_two
    ld1     {v16.8h, v17.8h, v18.8h, v19.8h}, [zeros]
    ld1     {v20.8h, v21.8h, v22.8h, v23.8h}, [zeros]
    ld1     {v24.8h, v25.8h, v26.8h, v27.8h}, [zeros]
    ld1     {v8.8h, v9.8h, v10.8h, v11.8h}, [zeros]
    mov     x_at, block
    mov     count, #4
.Lchunks\@:
    ld1     {v0.16b}, [x_at], x_step
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [quants_at], #64
    ld1     {v1.16b}, [x_at], x_step
    ld1     {v2.16b}, [x_at], x_step
    ld1     {v3.16b}, [x_at], x_step
    subs    count, count, #1
    prfm    pldl1strm, [later]
    chunk_two v4, v5, 0
    prfm    pldl1strm, [later, #64]
    chunk_two v6, v7, 1
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [quants_at], #64
    add     later, later, #128
    sub     x_at, x_at, #240
    chunk_two v4, v5, 2
    chunk_two v6, v7, 3
    b.ne    .Lchunks\@
.endm

// first, third = the int32 sums of rows 0-3 and 4-7 from four registers of int16.
.macro fold_rows first, second, third, fourth
    saddlp  \first\().4s, \first\().8h
    saddlp  \second\().4s, \second\().8h
    saddlp  \third\().4s, \third\().8h
    saddlp  \fourth\().4s, \fourth\().8h
    addp    \first\().4s, \first\().4s, \second\().4s
    addp    \third\().4s, \third\().4s, \fourth\().4s
.endm

// Like fold_rows, for a field of the lowest bits: the sum of two lanes fits in an int16, 32 * 3 *
// 128 = 12288.
.macro fold_low_rows first, second, third, fourth
    addp    \first\().8h, \first\().8h, \second\().8h
    addp    \third\().8h, \third\().8h, \fourth\().8h
    saddlp  \first\().4s, \first\().8h
    saddlp  \third\().4s, \third\().8h
.endm

// acc += ((low and high, shifted right by `bits`) - part `part` of the sums of x) * the next scales
.macro add_two low, high, part, bits
    dup     v14.4s, v13.s[\part]
    ld1     {v4.8h}, [scales_at], #16
.if \bits
    sshr    \low\().4s, \low\().4s, #\bits
    sshr    \high\().4s, \high\().4s, #\bits
.endif
    sub     \low\().4s, \low\().4s, v14.4s
    sub     \high\().4s, \high\().4s, v14.4s
    fcvtl   v5.4s, v4.4h
    fcvtl2  v6.4s, v4.8h
    scvtf   \low\().4s, \low\().4s
    scvtf   \high\().4s, \high\().4s
    fmul    v5.4s, v5.4s, v8.4s
    fmul    v6.4s, v6.4s, v8.4s
    fmla    acc_low.4s, \low\().4s, v5.4s
    fmla    acc_high.4s, \high\().4s, v6.4s
.endm

.macro begin_two
    movi    low_mask.16b, #0x03
    movi    next_mask.16b, #0x0c
    mov     x_step, #64
    movi    v16.8h, #0
    movi    v17.8h, #0
    movi    v18.8h, #0
    movi    v19.8h, #0
    st1     {v16.8h, v17.8h, v18.8h, v19.8h}, [zeros]
.endm

.macro blocks_q2
.Lblock\@:
    mov     scales_at, weights
    add     later, weights, ahead
    add     quants_at, weights, #Q2_QUANTS
    fields_two
    prfm    pldl1strm, [later]
    fold_low_rows v16, v17, v18, v19
    fold_rows v20, v21, v22, v23
    fold_low_rows v24, v25, v26, v27
    fold_low_rows v8, v9, v10, v11
    mov     v25.16b, v8.16b
    mov     v27.16b, v10.16b
    take_sums 4
    add_two v16, v18, 0, 0
    add_two v20, v22, 1, 2
    add_two v24, v26, 2, 0
    add_two v25, v27, 3, 0
    add     block, block, #Q8K_BYTES
    add     weights, weights, #Q2_BYTES
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

.macro blocks_tq2
.Lblock\@:
    mov     scales_at, weights
    add     later, weights, ahead
    add     quants_at, weights, #TQ2_QUANTS
    fields_two
    add     v16.8h, v16.8h, v24.8h      // of three fields: 3 * 16 * 3 * 128 = 18432
    add     v17.8h, v17.8h, v25.8h
    add     v18.8h, v18.8h, v26.8h
    add     v19.8h, v19.8h, v27.8h
    add     v16.8h, v16.8h, v8.8h
    add     v17.8h, v17.8h, v9.8h
    add     v18.8h, v18.8h, v10.8h
    add     v19.8h, v19.8h, v11.8h
    fold_rows v20, v21, v22, v23
    fold_rows v16, v17, v18, v19
    ssra    v16.4s, v20.4s, #2
    ssra    v18.4s, v22.4s, #2
    take_sums 1
    add_two v16, v18, 0, 0
    add     block, block, #Q8K_BYTES
    add     weights, weights, #TQ2_BYTES
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

// ---- one bit: 32 columns are the same bit of all 256 bytes -----------------------------------

.macro bit_chunk first, second, x_chunk
    cmtst   v4.16b, \first\().16b, mask.16b
    cmtst   v5.16b, \second\().16b, mask.16b
    and     v4.16b, v4.16b, \x_chunk\().16b
    and     v5.16b, v5.16b, \x_chunk\().16b
    sadalp  v24.8h, v4.16b
    sadalp  v25.8h, v5.16b
.endm

// Multiply 128 columns; an int16 lane adds 64 products.
.macro part_q1 part
    movi    v24.4s, #0
    movi    v25.4s, #0
    mov     count, #8
.Lbits\@:
    tst     count, #1
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [quants_at], #64
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    bit_chunk v16, v17, v0
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [quants_at], #64
    bit_chunk v18, v19, v1
    sub     count, count, #1
    bit_chunk v20, v21, v2
    bit_chunk v22, v23, v3
    b.eq    .Lbits\@                    // go on with the other half of this bit's columns
    add     mask.16b, mask.16b, mask.16b
    mov     quants_at, weights
    prfm    pldl1strm, [later]
    add     later, later, #40           // 8 steps of 40 bytes cover all 288 bytes
    cbnz    count, .Lbits\@
    dup     v12.4s, v13.s[\part]
    saddlp  v24.4s, v24.8h
    saddlp  v26.4s, v25.8h
    shl     v24.4s, v24.4s, #1
    shl     v26.4s, v26.4s, #1
    sub     v24.4s, v24.4s, v12.4s
    sub     v26.4s, v26.4s, v12.4s
    add_part
.endm

.macro blocks_q1
.Lblock\@:
    take_sums 2
    mov     scales_at, weights
    add     later, weights, ahead
    add     weights, weights, #Q1_QUANTS
    mov     quants_at, weights
    movi    mask.16b, #1
    part_q1 0
    part_q1 1
    add     block, block, #Q8K_BYTES - 256
    add     weights, weights, #Q1_BYTES - Q1_QUANTS
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

.macro begin_one
.endm

.macro gemv_few name, blocks, begin
func \name
    cbz     rows_left, .Ldone\@
    save_vectors
    sub     sp, sp, #FRAME_BYTES
    .cfi_adjust_cfa_offset FRAME_BYTES
    lsr     n_blocks, n_blocks, #COLS_K_LOG2
    \begin
    gemv_groups \blocks, acc_low, acc_high, .Lragged\@
.Lragged\@:
    store_ragged acc_low, acc_high, out, rows_left // rows mod 8 (0 if all groups were whole)
    add     sp, sp, #FRAME_BYTES
    .cfi_adjust_cfa_offset -FRAME_BYTES
    restore_vectors
.Ldone\@:
    ret
endfunc \name
.endm

#endif
