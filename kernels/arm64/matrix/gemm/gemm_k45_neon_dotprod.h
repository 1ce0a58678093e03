// The tiles of the K45 gemms with the dot product. The types of this class differ only in how their
// nibbles are unpacked. The including kernels name the registers.
#ifndef INGOT_KERNELS_ARM64_GEMM_K45_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMM_K45_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// v24-v31 (= or) += v16-v23 * the scales of the rows.
.macro add_sub_block multiply
    ld1     {v8.4s, v9.4s}, [w_scale], #32
    scale_sums \multiply, v8, v9
.endm

// Multiply one sub-block's minima by the sums of 4 tokens, from element `first` of sums on.
.macro minima mins, sums, first, multiply
    \multiply   v16.4s, \mins\().4h, \sums\().h[\first]
    \multiply\()2 v17.4s, \mins\().8h, \sums\().h[\first]
    \multiply   v18.4s, \mins\().4h, \sums\().h[\first + 1]
    \multiply\()2 v19.4s, \mins\().8h, \sums\().h[\first + 1]
    \multiply   v20.4s, \mins\().4h, \sums\().h[\first + 2]
    \multiply\()2 v21.4s, \mins\().8h, \sums\().h[\first + 2]
    \multiply   v22.4s, \mins\().4h, \sums\().h[\first + 3]
    \multiply\()2 v23.4s, \mins\().8h, \sums\().h[\first + 3]
.endm

.macro add_minima
    ld1     {v8.8h, v9.8h, v10.8h, v11.8h}, [w_scale], #64
    ld1     {v12.8h, v13.8h, v14.8h, v15.8h}, [w_scale], #64
    load_sums_k45
    minima  v8, v0, 0, smull
    minima  v9, v2, 0, smlal
    minima  v10, v0, 4, smlal
    minima  v11, v2, 4, smlal
    minima  v12, v4, 0, smlal
    minima  v13, v6, 0, smlal
    minima  v14, v4, 4, smlal
    minima  v15, v6, 4, smlal
.endm

// y of a token += sums * d - minima * dmin, in two halves of 4 rows.
.macro add_token y_low, y_high, sum_low, sum_high, min_low, min_high, token
    scvtf   \sum_low\().4s, \sum_low\().4s
    scvtf   \sum_high\().4s, \sum_high\().4s
    fmul    v13.4s, v8.4s, v12.s[\token]
    fmul    v14.4s, v9.4s, v12.s[\token]
    scvtf   \min_low\().4s, \min_low\().4s
    scvtf   \min_high\().4s, \min_high\().4s
    fmla    \y_low\().4s, \sum_low\().4s, v13.4s
    fmla    \y_high\().4s, \sum_high\().4s, v14.4s
    fmul    \sum_low\().4s, v10.4s, v12.s[\token]
    fmul    \sum_high\().4s, v11.4s, v12.s[\token]
    fmls    \y_low\().4s, \min_low\().4s, \sum_low\().4s
    fmls    \y_high\().4s, \min_high\().4s, \sum_high\().4s
.endm

// y of the tile += (totals * d - minima * dmin) * the scales of x; d and dmin are at w_scale.
.macro add_block
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [w_scale], #64
    ld1     {v12.4s}, [x_block], #16
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [temp]
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    add_token v0, v1, v24, v25, v16, v17, 0
    add_token v2, v3, v26, v27, v18, v19, 1
    add_token v4, v5, v28, v29, v20, v21, 2
    add_token v6, v7, v30, v31, v22, v23, 3
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [temp]
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
.endm

.macro multiply_k45
    locate_tile
    keep_tile
.Lblock\@:
    dot_32_columns zeros, #64
    add_sub_block mul
.rept 7
    dot_32_columns zeros, #64
    add_sub_block mla
.endr
    add_minima
    add_block
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    take_tile
.endm

#endif
