// The tiles of the K45 gemms with matrix instructions. The types of this class differ only in how
// their nibbles are unpacked. The including kernels name the registers.
#ifndef INGOT_KERNELS_ARM64_GEMM_K45_NEON_I8MM_H
#define INGOT_KERNELS_ARM64_GEMM_K45_NEON_I8MM_H

#include "kernels/arm64/matrix/gemm/gemm_neon_i8mm.h"

// Rearrange the minima that `prepare` wrote, from 4 bytes a row to pairs of rows of 8 bytes.
.macro prepare_pairs prepare
    \prepare 1
    pair_quants 5
    add     w_scale, factors, #256
    mov     step, #K45_PREPARED_QUADS
    mov     blocks_left, slice
.Lblock\@:
    mov     temp, w_scale
    pair_rows temp, w_scale, #64, step
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

// Split the sums of load_sums_k45, for all 8 sub-blocks, into two parts of a byte each: the high
// parts of the pairs of tokens go to v8, v9, the low parts to v10, v11.
.macro split_sums
    movi    v12.8h, #127
    sshr    v8.8h, v0.8h, #7
    sshr    v9.8h, v2.8h, #7
    sshr    v10.8h, v4.8h, #7
    sshr    v11.8h, v6.8h, #7
    and     v0.16b, v0.16b, v12.16b
    and     v2.16b, v2.16b, v12.16b
    and     v4.16b, v4.16b, v12.16b
    and     v6.16b, v6.16b, v12.16b
    sli     v8.8h, v9.8h, #8            // sums 0 and 1, then 2 and 3, of four tokens
    sli     v10.8h, v11.8h, #8          // sums 4 and 5, then 6 and 7
    sli     v0.8h, v2.8h, #8
    sli     v4.8h, v6.8h, #8
    zip_tokens v8, v10, v8, v9
    zip_tokens v0, v4, v10, v11
.endm

.macro zip_tokens low, high, to_low, to_high
    ext     v12.16b, \low\().16b, \low\().16b, #8
    ext     v13.16b, \high\().16b, \high\().16b, #8
    zip1    v12.8h, \low\().8h, v12.8h  // sums 0 to 3 of each token
    zip1    v13.8h, \high\().8h, v13.8h
    zip1    \to_low\().4s, v12.4s, v13.4s
    zip2    \to_high\().4s, v12.4s, v13.4s
.endm

.macro add_minima
    load_sums_k45
    begin_sums zeros
    split_sums
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [w_scale], #64
    multiply_pairs v4, v5, v6, v7, v8, v9
    shl     v16.4s, v16.4s, #7
    shl     v17.4s, v17.4s, #7
    shl     v18.4s, v18.4s, #7
    shl     v19.4s, v19.4s, #7
    shl     v20.4s, v20.4s, #7
    shl     v21.4s, v21.4s, #7
    shl     v22.4s, v22.4s, #7
    shl     v23.4s, v23.4s, #7
    multiply_pairs v4, v5, v6, v7, v10, v11
.endm

// y of a pair of rows and tokens += (total * d - minimum * dmin) * the scales of x.
.macro add_pair y_pair, total, minimum, d, dmin, own
    scvtf   \total\().4s, \total\().4s
    scvtf   \minimum\().4s, \minimum\().4s
    fmul    v14.4s, \d\().4s, \own\().4s
    fmul    v15.4s, \dmin\().4s, \own\().4s
    fmla    \y_pair\().4s, \total\().4s, v14.4s
    fmls    \y_pair\().4s, \minimum\().4s, v15.4s
.endm

.macro sub_block
    begin_sums zeros
    pairs_16_columns
    pairs_16_columns
    add_sub_block_pairs
.endm

.macro multiply_k45_pairs
    rows_to_pairs
    locate_tile
    keep_tile
.Lblock\@:
    clear_tile
    mov     last_step, #4
.Lsub_blocks\@:
.rept 2
    sub_block
.endr
    subs    last_step, last_step, #1
    b.ne    .Lsub_blocks\@
    add_minima
    ld4r    {v0.2d, v1.2d, v2.2d, v3.2d}, [w_scale], #32    // d
    ld4r    {v4.2d, v5.2d, v6.2d, v7.2d}, [w_scale], #32    // dmin
    ld1     {v9.4s}, [x_block], #16
    zip1    v8.4s, v9.4s, v9.4s
    zip2    v9.4s, v9.4s, v9.4s
    ld1     {v10.4s, v11.4s, v12.4s, v13.4s}, [temp]
    add_pair v10, v24, v16, v0, v4, v8
    add_pair v11, v25, v17, v1, v5, v8
    add_pair v12, v26, v18, v2, v6, v8
    add_pair v13, v27, v19, v3, v7, v8
    st1     {v10.4s, v11.4s, v12.4s, v13.4s}, [temp]
    ld1     {v10.4s, v11.4s, v12.4s, v13.4s}, [step]
    add_pair v10, v28, v20, v0, v4, v9
    add_pair v11, v29, v21, v1, v5, v9
    add_pair v12, v30, v22, v2, v6, v9
    add_pair v13, v31, v23, v3, v7, v9
    st1     {v10.4s, v11.4s, v12.4s, v13.4s}, [step]
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    take_tile
    pairs_to_rows
.endm

#endif
