// Gemvs over sub-blocks of 16 columns. One byte holds two bits each of four weights, which are in four
// sub-blocks: columns l, l + 32, l + 64 and l + 96.
//
// x0 y; x1 w; x2 x; x3 rows; x4 cols; x5 ahead; the loop is in gemv_neon.h;
// v0-v3 x of a sub-block of 16 columns, each 4 columns repeated four times; v4-v7 weights; v8, v9
// sums of 8 rows in int32; v11, v14, v15 masks; v12, v13 y of 8 rows; v16-v23 two bits of 16
// columns; v24-v27 signs of 8 columns; v28-v31 sums in int16 of rows 01, 23, 45, 67.
//
// The sum of 16 products fits an int16, so a sub-block is folded to one vector, then multiplied by its
// scales. The including kernel defines macros: weights_TYPE (v4-v7 = two chunks of 8 rows) and scale_TYPE.
#ifndef INGOT_KERNELS_ARM64_GEMV_K16_NEON_H
#define INGOT_KERNELS_ARM64_GEMV_K16_NEON_H

#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define scales x8
#define low x9
#define high x10
#define later x11               // weights to prefetch now
#define again x12               // bytes from the second half of signs back to the first half: -64
#define beyond x13              // 192: from the second 64 bytes of 256 to the next 256
#define x_step x14              // 32: bytes from one sub-block of x to the next but one
#define scale_step x15          // 16: bytes from a sub-block's scales to the next but one's
#define half x16                // of 32 columns: 0, 1

#define sums0123 v8
#define sums4567 v9
#define acc_low v12
#define acc_high v13

.macro products rows0123, rows4567, x_chunk, multiply
    \multiply   v28.8h, \rows0123\().8b, \x_chunk\().8b
    \multiply\()2 v29.8h, \rows0123\().16b, \x_chunk\().16b
    \multiply   v30.8h, \rows4567\().8b, \x_chunk\().8b
    \multiply\()2 v31.8h, \rows4567\().16b, \x_chunk\().16b
.endm

// Multiply the 16 columns of sub-block s among four, whose columns are 32 apart
.macro sub_block type, s, j
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], x_step
    weights_\type v16, v17, v18, v19, \s, \j, #64
    products v4, v5, v0, smull
    products v6, v7, v1, smlal
    weights_\type v20, v21, v22, v23, \s, \j, again
    ld1     {v0.8b}, [scales], scale_step
    products v4, v5, v2, smlal
    products v6, v7, v3, smlal
    addp    v28.8h, v28.8h, v29.8h
    addp    v30.8h, v30.8h, v31.8h
    addp    v28.8h, v28.8h, v30.8h
    scale_\type \s
    smlal   sums0123.4s, v28.4h, v0.4h
    smlal2  sums4567.4s, v28.8h, v0.8h
.endm

// Multiply 16 columns of each of the four sub-blocks of part j / 4 (128 columns).
.macro part type, j
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [low], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [low], beyond
    prfm    pldl1strm, [later]
    prfm    pldl1strm, [later, #64]
    prfm    pldl1strm, [later, #128]
    prfm    pldl1strm, [later, #192]
    add     later, later, #256
    sub_block \type, 0, \j
    sub_block \type, 1, \j + 1
    sub_block \type, 2, \j + 2
    sub_block \type, 3, \j + 3
.endm

// Add the integers of a block, from `scales_at`, `low_at` and `high_at` on. Moves block on by 32
// bytes, and scales and low past the bytes read.
.macro sum_block type, scales_at, low_at, high_at
    add     later, weights, ahead
    add     scales, weights, #\scales_at
    add     low, weights, #\low_at
    add     high, weights, #\high_at
    movi    sums0123.4s, #0
    movi    sums4567.4s, #0
    mov     half, #2
.Lhalf\@:
    part    \type, 0
    part    \type, 4
    subs    half, half, #1
    sub     low, low, #384
    add     high, high, #128
    sub     scales, scales, #120
    sub     block, block, #240
    b.ne    .Lhalf\@
.endm

// Body of a gemv.
.macro gemv_k16 blocks
    cbz     rows_left, .Ldone\@
    save_vectors
    lsr     n_blocks, n_blocks, #COLS_K_LOG2
    mov     again, #-64
    mov     beyond, #192
    mov     x_step, #32
    mov     scale_step, #16
    gemv_groups \blocks, acc_low, acc_high, .Llast_rows\@
.Llast_rows\@:
    store_ragged acc_low, acc_high, out, rows_left // rows mod 8 (0 if all groups were whole)
    restore_vectors
.Ldone\@:
    ret
.endm

#endif
