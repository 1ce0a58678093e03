// void gemv_f32_q4x8_q8_neon(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon.h
// v0-v7 x, each 4 columns four times over, or a scale or sum; v8-v11, v16-v23 weights
// v24-v27 sums in int16 of rows 01, 23, 45, 67; v28, v29 y of 8 rows; v12-v15 low nibbles; v30 mask
// Clobbers x0-x7, v0-v7, v16-v31; d8-d15 are saved.
//
// Eight rows at a time. A nibble stays unsigned; its product with x lies within 15 * 128 =
// 1920, and an int16 lane collects 8 of them in a block: 15360, so that smlal runs through the
// whole block and even the pairwise add after it (30720) fits 16 bits. One widening pairwise add
// makes the integers of 8 rows; 8 * sum(x) comes off once. Loads and the parting of a chunk stand
// among the products of the one before, for cores that issue in order.
// Two blocks go together, as their 18 vectors of weights come by 5 loads and their 20 words of x by
// 5, where one block takes 3 and 3: 71.5 instructions for 256 weights, 32 of them multiplications and
// 16 to part the nibbles.
#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define sums01 v24
#define sums23 v25
#define sums45 v26
#define sums67 v27
#define acc_low v28
#define acc_high v29
#define mask v30

// Low nibbles of 8 rows in two registers, high ones in place
.macro part_low rows0123, rows4567, low0123, low4567
    and     \low0123\().16b, \rows0123\().16b, mask.16b
    and     \low4567\().16b, \rows4567\().16b, mask.16b
.endm

.macro part_high rows0123, rows4567
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
.endm

// 4 columns of 8 rows
.macro products rows0123, rows4567, x_chunk, multiply
    \multiply   sums01.8h, \rows0123\().8b, \x_chunk\().8b
    \multiply\()2 sums23.8h, \rows0123\().16b, \x_chunk\().16b
    \multiply   sums45.8h, \rows4567\().8b, \x_chunk\().8b
    \multiply\()2 sums67.8h, \rows4567\().16b, \x_chunk\().16b
.endm

// y of 8 rows += the sums, less 8 times that of x, by both scales. Destroys low, high and x_sum.
.macro add_block scales, x_scale, x_sum, low, high
    fcvtl   \low\().4s, \scales\().4h
    fcvtl2  \high\().4s, \scales\().8h
    addp    sums01.8h, sums01.8h, sums23.8h
    addp    sums45.8h, sums45.8h, sums67.8h
    shl     \x_sum\().4s, \x_sum\().4s, #3
    fmul    \low\().4s, \low\().4s, \x_scale\().4s
    fmul    \high\().4s, \high\().4s, \x_scale\().4s
    saddlp  sums01.4s, sums01.8h
    saddlp  sums45.4s, sums45.8h
    sub     sums01.4s, sums01.4s, \x_sum\().4s
    sub     sums45.4s, sums45.4s, \x_sum\().4s
    scvtf   sums01.4s, sums01.4s
    scvtf   sums45.4s, sums45.4s
    fmla    acc_low.4s, sums01.4s, \low\().4s
    fmla    acc_high.4s, sums45.4s, \high\().4s
.endm

.macro one_block
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    part_low v17, v18, v12, v13
    part_high v17, v18
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    products v12, v13, v0, smull
    part_low v19, v20, v14, v15
    ld1     {v8.16b}, [weights], #16
    products v17, v18, v4, smlal
    part_high v19, v20
    products v14, v15, v1, smlal
    ld2r    {v9.4s, v10.4s}, [block], #8
    part_low v21, v22, v12, v13
    products v19, v20, v5, smlal
    part_high v21, v22
    products v12, v13, v2, smlal
    part_low v23, v8, v14, v15
    products v21, v22, v6, smlal
    part_high v23, v8
    products v14, v15, v3, smlal
    products v23, v8, v7, smlal
    add_block v16, v9, v10, v17, v18
.endm

.macro blocks_q4
    tbz     blocks_left, #0, .Ltwo_blocks\@
    one_block
    subs    blocks_left, blocks_left, #1
    b.eq    .Ldone\@
.Ltwo_blocks\@:
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64    // scales, then chunks
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    prfm    pldl1strm, [weights, ahead]
    part_low v17, v18, v12, v13
    part_high v17, v18
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    products v12, v13, v0, smull
    prfm    pldl1strm, [weights, ahead]
    part_low v19, v20, v14, v15
    products v17, v18, v4, smlal
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [weights], #64      // v9: scales of the second
    part_high v19, v20
    products v14, v15, v1, smlal
    prfm    pldl1strm, [weights, ahead]
    part_low v21, v22, v12, v13
    products v19, v20, v5, smlal
    part_high v21, v22
    products v12, v13, v2, smlal
    part_low v23, v8, v14, v15
    products v21, v22, v6, smlal
    part_high v23, v8
    products v14, v15, v3, smlal
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16  // scale and sum, then two chunks
    ld1     {v19.16b, v20.16b, v21.16b, v22.16b}, [weights], #64
    part_low v10, v11, v12, v13
    products v23, v8, v7, smlal
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    prfm    pldl1strm, [weights, ahead]
    part_high v10, v11
    add_block v16, v0, v1, v17, v18
    products v12, v13, v2, smull
    part_low v19, v20, v14, v15
    ld1     {v16.16b, v17.16b}, [weights], #32
    products v10, v11, v6, smlal
    part_high v19, v20
    products v14, v15, v3, smlal
    prfm    pldl1strm, [weights, ahead]
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16  // two chunks, then scale and sum
    part_low v21, v22, v12, v13
    products v19, v20, v7, smlal
    part_high v21, v22
    products v12, v13, v4, smlal
    part_low v16, v17, v14, v15
    products v21, v22, v0, smlal
    part_high v16, v17
    products v14, v15, v5, smlal
    subs    blocks_left, blocks_left, #2
    products v16, v17, v1, smlal
    add_block v9, v2, v3, v18, v19
    b.ne    .Ltwo_blocks\@
.Ldone\@:
.endm

func gemv_f32_q4x8_q8_neon
    cbz     rows_left, 2f
    save_vectors
    lsr     n_blocks, n_blocks, #COLS_LOG2
    movi    mask.16b, #15
    gemv_groups blocks_q4, acc_low, acc_high, 1f
1:
    store_ragged acc_low, acc_high, out, rows_left // of rows mod 8: nothing after whole groups
    restore_vectors
2:
    ret
endfunc gemv_f32_q4x8_q8_neon
