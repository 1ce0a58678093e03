// Shared by the quantized gemms with int8 matrix multiplication. Loops and preparation are
// as in gemm_neon_dotprod.h. smmla multiplies 2 rows of 8 columns by 2 tokens of 8 columns,
// so prepared weights are rearranged to pairs of rows, and x to pairs of tokens in the tile.
//
// y and sums of a tile are pairs too: [token 2p, row 2r], [2p, 2r + 1], [2p + 1, 2r], [2p + 1, 2r
// + 1] in v(24 + 4p + r) and v(16 + 4p + r).
#ifndef INGOT_KERNELS_ARM64_GEMM_NEON_I8MM_H
#define INGOT_KERNELS_ARM64_GEMM_NEON_I8MM_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Rearrange 8 columns of 8 rows, 64 bytes at `from` in two chunks, to 4 pairs of rows at `to`.
.macro pair_rows from, to, from_step, to_step
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [\from], \from_step
    zip1    v4.4s, v0.4s, v2.4s
    zip2    v5.4s, v0.4s, v2.4s
    zip1    v6.4s, v1.4s, v3.4s
    zip2    v7.4s, v1.4s, v3.4s
    st1     {v4.16b, v5.16b, v6.16b, v7.16b}, [\to], \to_step
.endm

// Rearrange all of `quants` in place: `slice` blocks of 1 << bits times 64 bytes.
.macro pair_quants bits
    mov     w_block, quants
    lsl     blocks_left, slice, #\bits
.Lchunks\@:
    mov     temp, w_block
    pair_rows temp, w_block, #64, #64
    subs    blocks_left, blocks_left, #1
    b.ne    .Lchunks\@
.endm

// Rearrange y from rows to pairs, or back: the same exchange does both, with another order of
// registers.
.macro rows_to_pairs
    zip1    v0.2d, v24.2d, v26.2d
    zip2    v1.2d, v24.2d, v26.2d
    zip1    v26.2d, v25.2d, v27.2d
    zip2    v27.2d, v25.2d, v27.2d
    zip1    v2.2d, v28.2d, v30.2d
    zip2    v3.2d, v28.2d, v30.2d
    zip1    v30.2d, v29.2d, v31.2d
    zip2    v31.2d, v29.2d, v31.2d
    mov     v24.16b, v0.16b
    mov     v25.16b, v1.16b
    mov     v28.16b, v2.16b
    mov     v29.16b, v3.16b
.endm

.macro pairs_to_rows
    zip1    v0.2d, v24.2d, v25.2d
    zip2    v1.2d, v24.2d, v25.2d
    zip1    v25.2d, v26.2d, v27.2d
    zip2    v27.2d, v26.2d, v27.2d
    zip1    v2.2d, v28.2d, v29.2d
    zip2    v3.2d, v28.2d, v29.2d
    zip1    v29.2d, v30.2d, v31.2d
    zip2    v31.2d, v30.2d, v31.2d
    mov     v24.16b, v0.16b
    mov     v26.16b, v1.16b
    mov     v28.16b, v2.16b
    mov     v30.16b, v3.16b
.endm

// Sums += products of 8 columns of 8 rows and two pairs of tokens.
.macro multiply_pairs w0, w1, w2, w3, x_low, x_high
    smmla   v16.4s, \x_low\().16b, \w0\().16b
    smmla   v17.4s, \x_low\().16b, \w1\().16b
    smmla   v18.4s, \x_low\().16b, \w2\().16b
    smmla   v19.4s, \x_low\().16b, \w3\().16b
    smmla   v20.4s, \x_high\().16b, \w0\().16b
    smmla   v21.4s, \x_high\().16b, \w1\().16b
    smmla   v22.4s, \x_high\().16b, \w2\().16b
    smmla   v23.4s, \x_high\().16b, \w3\().16b
.endm

// Sums += 16 columns.
.macro pairs_16_columns
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [x_block], #64
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [w_block], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [w_block], #64
    zip1    v12.4s, v8.4s, v9.4s
    zip2    v13.4s, v8.4s, v9.4s
    zip1    v14.4s, v10.4s, v11.4s
    zip2    v15.4s, v10.4s, v11.4s
    multiply_pairs v0, v1, v2, v3, v12, v13
    multiply_pairs v4, v5, v6, v7, v14, v15
.endm

// y += (sums as floats - the magic) * the scales of the rows * the scales of the tokens, v5. The
// magic follows the scales of the rows.
.macro add_pairs
    ld4r    {v0.2d, v1.2d, v2.2d, v3.2d}, [w_scale], #32    // scales of a pair of rows, each twice
    ld1     {v4.4s}, [w_scale], #16
    zip1    v6.4s, v5.4s, v5.4s
    zip2    v7.4s, v5.4s, v5.4s
    fsub    v16.4s, v16.4s, v4.4s
    fsub    v17.4s, v17.4s, v4.4s
    fsub    v18.4s, v18.4s, v4.4s
    fsub    v19.4s, v19.4s, v4.4s
    fmul    v8.4s, v0.4s, v6.4s
    fmul    v9.4s, v1.4s, v6.4s
    fmul    v10.4s, v2.4s, v6.4s
    fmul    v11.4s, v3.4s, v6.4s
    fsub    v20.4s, v20.4s, v4.4s
    fsub    v21.4s, v21.4s, v4.4s
    fsub    v22.4s, v22.4s, v4.4s
    fsub    v23.4s, v23.4s, v4.4s
    fmul    v12.4s, v0.4s, v7.4s
    fmul    v13.4s, v1.4s, v7.4s
    fmul    v14.4s, v2.4s, v7.4s
    fmul    v15.4s, v3.4s, v7.4s
    fmla    v24.4s, v16.4s, v8.4s
    fmla    v25.4s, v17.4s, v9.4s
    fmla    v26.4s, v18.4s, v10.4s
    fmla    v27.4s, v19.4s, v11.4s
    fmla    v28.4s, v20.4s, v12.4s
    fmla    v29.4s, v21.4s, v13.4s
    fmla    v30.4s, v22.4s, v14.4s
    fmla    v31.4s, v23.4s, v15.4s
.endm

// Multiply a block of 32 columns; its sums start from the values at seeds.
.macro pairs_block
    begin_sums seeds
    pairs_16_columns
    pairs_16_columns
    ld1     {v5.4s}, [x_block], step
    add_pairs
.endm

// The loop takes two blocks at a time; if the number of blocks is odd, the code enters the loop in
// its middle.
.macro multiply_pairs_32
    rows_to_pairs
    tbz     blocks_left, #0, .Ltwo_blocks\@
    add     blocks_left, blocks_left, #1
    b       .Lsecond\@
.Ltwo_blocks\@:
    pairs_block
.Lsecond\@:
    pairs_block
    subs    blocks_left, blocks_left, #2
    b.ne    .Ltwo_blocks\@
    pairs_to_rows
.endm

// Totals v24-v31 += sums * the int32 scales of the rows, at w_scale.
.macro add_sub_block_pairs
    ld4r    {v0.2d, v1.2d, v2.2d, v3.2d}, [w_scale], #32
    mla     v24.4s, v16.4s, v0.4s
    mla     v25.4s, v17.4s, v1.4s
    mla     v26.4s, v18.4s, v2.4s
    mla     v27.4s, v19.4s, v3.4s
    mla     v28.4s, v20.4s, v0.4s
    mla     v29.4s, v21.4s, v1.4s
    mla     v30.4s, v22.4s, v2.4s
    mla     v31.4s, v23.4s, v3.4s
.endm

#endif
