// The gemvs of TQ2_0, Q2_0 and Q1_0 with the dot product; the loop over rows is in gemv_neon.h.
//
// v0-v7 x of 16 columns each; v16, v17 bytes of 4 columns of 8 rows, v18-v21 their fields; v8-v10
// masks; v22-v27, v30, v31 sums; v28, v29 y of 8 rows; v12 scale of x, v13 sums of x, v14, v15
// scratch
#ifndef INGOT_KERNELS_ARM64_FEW_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_FEW_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define quants_at x8
#define x_at x9
#define count x10
#define x_step x11
#define scales_at x12
#define x_end x13
#define seeds x14               // 96 bytes: the start values of the sums of two bits
#define last_seeds x15
#define word w8

#define FRAME_BYTES 96
#define magics v11
#define places v16

// A sum starts at the bits of a float whose last bit weighs 1 (1/4 or 1/16 for fields that are not
// shifted down). The end value, read as a float, is MAGIC plus the sum, without a conversion.
#define MAGIC_4 0x4a400000      // 1.5 * 2^21

#define acc_low v28
#define acc_high v29

// v13 = the sums of x over each 64, 128 or (with one bit) 256 columns; v12 = the scale of x.
.macro take_sums parts
    add     x_end, block, #Q8K_SUM
    ld1     {v14.8h, v15.8h}, [x_end], #32
    ld1r    {v12.4s}, [x_end]
    addp    v14.8h, v14.8h, v15.8h      // sums of 32 columns: 4096 at most
    addp    v14.8h, v14.8h, v14.8h      // 64
.if \parts < 4
    addp    v14.8h, v14.8h, v14.8h      // 128: 16384
.endif
.if \parts < 2
    saddlp  v13.4s, v14.8h
.else
    sxtl    v13.4s, v14.4h
.endif
    neg     v13.4s, v13.4s
.endm

// acc += the floats low and high * the next scales
.macro add_floats low, high
    ld1     {v14.8h}, [scales_at], #16
    fcvtl   v15.4s, v14.4h
    fcvtl2  v14.4s, v14.8h
    fmul    v15.4s, v15.4s, v12.4s
    fmul    v14.4s, v14.4s, v12.4s
    fmla    acc_low.4s, \low\().4s, v15.4s
    fmla    acc_high.4s, \high\().4s, v14.4s
.endm

// ---- two bits --------------------------------------------------------------------------------

// Multiply 4 columns in each of the four fields; fields 1 and 2 are not shifted down, so they are 4
// and 16 times as large.
.macro chunk_two low, high, column
    and     v18.16b, \low\().16b, v8.16b
    and     v19.16b, \high\().16b, v8.16b
    and     v20.16b, \low\().16b, v9.16b
    and     v21.16b, \high\().16b, v9.16b
    sdot    v22.4s, v18.16b, v0.4b[\column]
    sdot    v23.4s, v19.16b, v0.4b[\column]
    and     v18.16b, \low\().16b, v10.16b
    and     v19.16b, \high\().16b, v10.16b
    sdot    v24.4s, v20.16b, v1.4b[\column]
    sdot    v25.4s, v21.16b, v1.4b[\column]
    ushr    \low\().16b, \low\().16b, #6
    ushr    \high\().16b, \high\().16b, #6
    sdot    v26.4s, v18.16b, v2.4b[\column]
    sdot    v27.4s, v19.16b, v2.4b[\column]
    sdot    v30.4s, \low\().16b, v3.4b[\column]
    sdot    v31.4s, \high\().16b, v3.4b[\column]
.endm

// Add the sums of 256 columns, field by field, to their start values.
.macro fields_two
    mov     x_at, block
    mov     count, #4
.Lchunks\@:
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [quants_at], #64
    ld1     {v0.16b}, [x_at], x_step
    ld1     {v1.16b}, [x_at], x_step
    ld1     {v2.16b}, [x_at], x_step
    ld1     {v3.16b}, [x_at], x_step
    prfm    pldl1keep, [quants_at, ahead]
    subs    count, count, #1
    chunk_two v4, v5, 0
    chunk_two v6, v7, 1
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [quants_at], #64
    sub     x_at, x_at, #240
    prfm    pldl1keep, [quants_at, ahead]
    chunk_two v4, v5, 2
    chunk_two v6, v7, 3
    b.ne    .Lchunks\@
.endm

// Load masks, and start values in the order of the sums of fields 0, 1, 2.
.macro begin_two magic_4, magic_16
    movi    v8.16b, #0x03
    movi    v9.16b, #0x0c
    movi    v10.16b, #0x30
    mov     x_step, #64
    mov     seeds, sp
    add     last_seeds, sp, #64
    mov_word word, MAGIC
    dup     v0.4s, word
    mov     v1.16b, v0.16b
    mov     magics.16b, v0.16b
    mov_word word, \magic_4
    dup     v2.4s, word
    mov     v3.16b, v2.16b
    mov     magics.s[1], word
    mov_word word, \magic_16
    dup     v4.4s, word
    mov     v5.16b, v4.16b
    mov     magics.s[2], word
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [seeds]
    st1     {v4.4s, v5.4s}, [last_seeds]
.endm

.macro begin_tq2
    begin_two 0, 0
.endm

.macro begin_q2
    begin_two MAGIC_4, MAGIC_16
    movi    places.4s, #0
    mov     word, #2
    mov     places.s[1], word
    mov     word, #4
    mov     places.s[2], word
.endm

// acc += (low and high - field `field` of v13) * the next scales
.macro add_field low, high, field
    dup     v18.4s, v13.s[\field]
    fsub    \low\().4s, \low\().4s, v18.4s
    fsub    \high\().4s, \high\().4s, v18.4s
    add_floats \low, \high
.endm

.macro blocks_q2
.Lblock\@:
    ld1     {v22.4s, v23.4s, v24.4s, v25.4s}, [seeds]
    mov     scales_at, weights
    ld1     {v26.4s, v27.4s}, [last_seeds]
    add     quants_at, weights, #Q2_QUANTS
    ld1     {v30.4s, v31.4s}, [seeds]
    fields_two
    take_sums 4
    sshl    v13.4s, v13.4s, places.4s
    sub     v13.4s, magics.4s, v13.4s
    add_field v22, v23, 0
    add_field v24, v25, 1
    add_field v26, v27, 2
    add_field v30, v31, 3
    add     block, block, #Q8K_BYTES
    add     weights, weights, #Q2_BYTES
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

.macro blocks_tq2
.Lblock\@:
    ld1     {v22.4s, v23.4s, v24.4s, v25.4s}, [seeds]
    mov     scales_at, weights
    ld1     {v26.4s, v27.4s}, [last_seeds]
    add     quants_at, weights, #TQ2_QUANTS
    ld1     {v30.4s, v31.4s}, [last_seeds]
    fields_two
    take_sums 1
    add     v22.4s, v22.4s, v30.4s
    add     v23.4s, v23.4s, v31.4s
    sub     v13.4s, magics.4s, v13.4s
    ssra    v22.4s, v24.4s, #2
    ssra    v23.4s, v25.4s, #2
    ssra    v22.4s, v26.4s, #4
    ssra    v23.4s, v27.4s, #4
    add_field v22, v23, 0
    add     block, block, #Q8K_BYTES
    add     weights, weights, #TQ2_BYTES
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

// ---- one bit ---------------------------------------------------------------------------------

// Multiply one bit of each byte, as 0 or -1, by x of its 4 columns; so the sums have the opposite
// sign.
.macro bit_q1 low, high, x_16, column
    cmtst   v18.16b, v16.16b, v8.16b
    cmtst   v19.16b, v17.16b, v8.16b
    add     v8.16b, v8.16b, v8.16b
    sdot    \low\().4s, v18.16b, \x_16\().4b[\column]
    sdot    \high\().4s, v19.16b, \x_16\().4b[\column]
.endm

.macro chunk_q1 column
    ld1     {v16.16b, v17.16b}, [quants_at], #32
    movi    v8.16b, #1
    bit_q1  v22, v23, v0, \column
    bit_q1  v22, v23, v1, \column
    bit_q1  v22, v23, v2, \column
    bit_q1  v22, v23, v3, \column
    bit_q1  v24, v25, v4, \column
    bit_q1  v24, v25, v5, \column
    bit_q1  v24, v25, v6, \column
    bit_q1  v24, v25, v7, \column
.endm

.macro begin_q1
    mov     x_step, #32
.endm

// Compute 2 sum_{bit} x - sum x of 128 columns from the negative sum.
.macro end_q1 low, high, part
    dup     v14.4s, v13.s[\part]
    shl     \low\().4s, \low\().4s, #1
    shl     \high\().4s, \high\().4s, #1
    sub     \low\().4s, v14.4s, \low\().4s
    sub     \high\().4s, v14.4s, \high\().4s
    scvtf   \low\().4s, \low\().4s
    scvtf   \high\().4s, \high\().4s
    add_floats \low, \high
.endm

.macro blocks_q1
.Lblock\@:
    take_sums 2
    mov     scales_at, weights
    add     quants_at, weights, #Q1_QUANTS
    movi    v22.4s, #0
    movi    v23.4s, #0
    movi    v24.4s, #0
    movi    v25.4s, #0
    mov     x_at, block
    mov     count, #2
.Lchunks\@:
.irp sixteen, v0.16b, v1.16b, v2.16b, v3.16b, v4.16b, v5.16b, v6.16b, v7.16b
    ld1     {\sixteen}, [x_at], x_step
.endr
    prfm    pldl1keep, [quants_at, ahead]
    subs    count, count, #1
    chunk_q1 0
    chunk_q1 1
    prfm    pldl1keep, [quants_at, ahead]
    chunk_q1 2
    chunk_q1 3
    add     x_at, block, #16
    b.ne    .Lchunks\@
    end_q1  v22, v23, 0
    end_q1  v24, v25, 1
    add     block, block, #Q8K_BYTES
    add     weights, weights, #Q1_BYTES
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

.macro gemv_few name, blocks, begin
func \name, dotprod
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
