// Shared by the gemvs whose nibbles go through a table, without the dot product. The loop is in
// gemv_neon.h, whose `ahead` comes as a struct nibble_table.
//
// v0-v3 x of columns 0-15, v4-v7 x of columns 16-31, each 4 columns four times over
// v16-v19 nibbles of 8 rows and 8 columns twice, v20-v23 their values, v24-v27 products in int16 of
// rows 01, 23, 45, 67, v8-v11 their sums in int32; v12 scale of x's block; v14 table, v15 mask
// v28, v29 y of 8 rows; v30, v31 their scales
//
// One tbl makes int8 of 16 nibbles, from a register that stays for the whole call. No value is -128,
// so that two products always fit an int16: smull and smlal of a byte's two nibbles, then sadalp.
#ifndef INGOT_KERNELS_ARM64_GEMV_TABLE_NEON_H
#define INGOT_KERNELS_ARM64_GEMV_TABLE_NEON_H

#include "kernels/arm64/gemv_neon.h"

#define later x8                // weights to fetch now

#define dots01 v8
#define dots23 v9
#define dots45 v10
#define dots67 v11
#define x_scale v12
#define x_sum v13
#define table v14
#define mask v15
#define acc_low v28
#define acc_high v29
#define scales_low v30
#define scales_high v31

// Products of one chunk of 8 rows.
.macro products rows0123, rows4567, x_chunk, multiply
    \multiply   v24.8h, \rows0123\().8b, \x_chunk\().8b
    \multiply\()2 v25.8h, \rows0123\().16b, \x_chunk\().16b
    \multiply   v26.8h, \rows4567\().8b, \x_chunk\().8b
    \multiply\()2 v27.8h, \rows4567\().16b, \x_chunk\().16b
.endm

.macro values rows0123, rows4567
    and     v20.16b, \rows0123\().16b, mask.16b
    and     v21.16b, \rows4567\().16b, mask.16b
    ushr    v22.16b, \rows0123\().16b, #4
    ushr    v23.16b, \rows4567\().16b, #4
    tbl     v20.16b, {table.16b}, v20.16b
    tbl     v21.16b, {table.16b}, v21.16b
    tbl     v22.16b, {table.16b}, v22.16b
    tbl     v23.16b, {table.16b}, v23.16b
.endm

// Four columns of 8 rows and the four that lie 16 columns on.
.macro two_chunks rows0123, rows4567, x_low, x_high, pairwise
    values  \rows0123, \rows4567
    products v20, v21, \x_low, smull
    products v22, v23, \x_high, smlal
    \pairwise dots01.4s, v24.8h
    \pairwise dots23.4s, v25.8h
    \pairwise dots45.4s, v26.8h
    \pairwise dots67.4s, v27.8h
.endm

// The scales of 8 rows as floats.
.macro load_scales
    ld1     {scales_high.8h}, [weights], #16
    fcvtl   scales_low.4s, scales_high.4h
    fcvtl2  scales_high.4s, scales_high.8h
.endm

// y += 32 columns.
.macro add_run
    add     later, weights, ahead
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    prfm    pldl1strm, [later]
    two_chunks v16, v17, v0, v4, saddlp
    prfm    pldl1strm, [later, #64]
    two_chunks v18, v19, v1, v5, sadalp
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld2r    {x_scale.4s, x_sum.4s}, [block], #8
    two_chunks v16, v17, v2, v6, sadalp
    two_chunks v18, v19, v3, v7, sadalp
    fmul    v16.4s, scales_low.4s, x_scale.4s
    fmul    v17.4s, scales_high.4s, x_scale.4s
    addp    dots01.4s, dots01.4s, dots23.4s
    addp    dots45.4s, dots45.4s, dots67.4s
    scvtf   dots01.4s, dots01.4s
    scvtf   dots45.4s, dots45.4s
    fmla    acc_low.4s, dots01.4s, v16.4s
    fmla    acc_high.4s, dots45.4s, v17.4s
.endm

.macro blocks_t4
.Lblock\@:
    load_scales
    add_run
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

.macro blocks_fig4
.Lblock\@:
    load_scales
    add_run
    add_run
    add_run
    add_run
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

.macro gemv_table blocks, cols_log2
    cbz     rows_left, .Ldone\@
    save_vectors
    lsr     n_blocks, n_blocks, #\cols_log2
    ld1     {table.16b}, [ahead], #16
    ldr     ahead, [ahead]
    movi    mask.16b, #15
    gemv_groups \blocks, acc_low, acc_high, .Lragged\@
.Lragged\@:
    store_ragged acc_low, acc_high, out, rows_left // of rows mod 8: nothing after whole groups
    restore_vectors
.Ldone\@:
    ret
.endm

#endif
