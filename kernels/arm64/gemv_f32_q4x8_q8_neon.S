// void gemv_f32_q4x8_q8_neon(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon.h
// v0-v3 x of columns 0-15, v4-v7 x of columns 16-31, each 4 columns four times over
// v16-v23 weights, v24-v27 sums in int16 of rows 01, 23, 45, 67; v28, v29 y of 8 rows
// v8, v9 scale and sum of x's block; v10 scales of the rows; v11-v14 low nibbles; v30 mask
// Clobbers x0-x8, v0-v7, v16-v31; d8-d15 are saved.
//
// Eight rows at a time. A nibble stays unsigned; its product with x lies within 15 * 128 =
// 1920, and an int16 lane collects 8 of them in a block: 15360, so that smlal runs through the
// whole block and even the pairwise add after it (30720) fits 16 bits. One widening pairwise add
// makes the integers of 8 rows; 8 * sum(x) comes off once. Loads and the parting of a chunk stand
// among the products of the one before, for cores that issue in order.
// 256 weights take 32 multiplications, 16 operations to part the nibbles and about 30 others:
// 127 cycles in the model of Cortex-A53, 1.1 bytes a cycle, and 41 in that of Cortex-A72, 3.5
// (llvm-mca 19), where 32 is the floor, one multiplication a cycle.
#include "kernels/arm64/gemv_neon.h"

#define later x8                // weights to fetch now

#define scales v10
#define sums01 v24
#define sums23 v25
#define sums45 v26
#define sums67 v27
#define acc_low v28
#define acc_high v29
#define mask v30
#define x_scale v8
#define x_sum v9

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

.macro blocks_q4
.Lblock\@:
    add     later, weights, ahead
    ld1     {scales.8h}, [weights], #16
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    part_low v16, v17, v11, v12
    part_high v16, v17
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    products v11, v12, v0, smull
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    part_low v18, v19, v13, v14
    products v16, v17, v4, smlal
    prfm    pldl1strm, [later]
    part_high v18, v19
    products v13, v14, v1, smlal
    ld2r    {x_scale.4s, x_sum.4s}, [block], #8
    part_low v20, v21, v11, v12
    products v18, v19, v5, smlal
    prfm    pldl1strm, [later, #64]
    part_high v20, v21
    products v11, v12, v2, smlal
    prfm    pldl1strm, [later, #128]
    part_low v22, v23, v13, v14
    subs    blocks_left, blocks_left, #1
    products v20, v21, v6, smlal
    part_high v22, v23
    products v13, v14, v3, smlal
    fcvtl   v17.4s, scales.4h
    fcvtl2  v18.4s, scales.8h
    shl     x_sum.4s, x_sum.4s, #3
    products v22, v23, v7, smlal
    fmul    v17.4s, v17.4s, x_scale.4s
    fmul    v18.4s, v18.4s, x_scale.4s
    addp    sums01.8h, sums01.8h, sums23.8h
    addp    sums45.8h, sums45.8h, sums67.8h
    saddlp  sums01.4s, sums01.8h
    saddlp  sums45.4s, sums45.8h
    sub     sums01.4s, sums01.4s, x_sum.4s
    sub     sums45.4s, sums45.4s, x_sum.4s
    scvtf   sums01.4s, sums01.4s
    scvtf   sums45.4s, sums45.4s
    fmla    acc_low.4s, sums01.4s, v17.4s
    fmla    acc_high.4s, sums45.4s, v18.4s
    b.ne    .Lblock\@
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
