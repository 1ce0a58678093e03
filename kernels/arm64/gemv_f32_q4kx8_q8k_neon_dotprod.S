// void gemv_f32_q4kx8_q8k_neon_dotprod(float *y, const void *w, const struct block_q8k *x,
//                                      size_t rows, size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon_dotprod.h
// v0-v3 x of 64 columns; v8-v15 weights of a group; v20, v21 sums of its sub-block 2p, v22, v23 of
// 2p + 1; v24-v27 integers of 16 rows over 256 columns, v28-v31 their y
// v4, v5 masks, v6, v7 low nibbles, v16-v19 what spreads four bytes each to words
// Clobbers x0-x17, v0-v7, v16-v31; x19, x20 and d8-d15 are saved.
//
// 64 columns of one group after the other, so that the sub-block of the low nibbles and that of the
// high ones collect together; a table lookup widens four scales at a time. At the end of 256
// columns the minima follow, by the sums of x. 8 rows x 32 columns take 16 sdot, 16 to part the
// nibbles and 49.6 instructions in all: 24 cycles in the model of Neoverse N1, which stands for
// Cortex-A76, 6.1 bytes a cycle (llvm-mca 19).
#include "kernels/arm64/gemv_neon_dotprod.h"

#define first_meta x11
#define second_meta x12
#define first_scale x13
#define second_scale x14
#define part_left x15
#define meta_step x16
#define spread w16

#define low_mask v4
#define six_bits v5

// Four columns of 8 rows of both sub-blocks.
.macro chunk rows0123, rows4567, x_low, x_high, column
    and     v6.16b, \rows0123\().16b, low_mask.16b
    and     v7.16b, \rows4567\().16b, low_mask.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
    sdot    v20.4s, v6.16b, \x_low\().4b[\column]
    sdot    v21.4s, v7.16b, \x_low\().4b[\column]
    sdot    v22.4s, \rows0123\().16b, \x_high\().4b[\column]
    sdot    v23.4s, \rows4567\().16b, \x_high\().4b[\column]
.endm

// 64 columns of a group.
.macro group_part group, scale, total0123, total4567
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [\group], #64
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [seeds]
    prfm    pldl1keep, [\group, ahead]
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [\group], #64
    chunk   v8, v9, v0, v2, 0
    prfm    pldl1keep, [\group, ahead]
    chunk   v10, v11, v0, v2, 1
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [\group], #64
    chunk   v12, v13, v0, v2, 2
    prfm    pldl1keep, [\group, ahead]
    chunk   v14, v15, v0, v2, 3
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [\group], #64
    chunk   v8, v9, v1, v3, 0
    prfm    pldl1keep, [\group, ahead]
    chunk   v10, v11, v1, v3, 1
    ld1     {v8.16b}, [\scale], #16
    chunk   v12, v13, v1, v3, 2
    and     v8.16b, v8.16b, six_bits.16b
    chunk   v14, v15, v1, v3, 3
    tbl     v9.16b, {v8.16b}, v16.16b
    tbl     v10.16b, {v8.16b}, v17.16b
    tbl     v11.16b, {v8.16b}, v18.16b
    tbl     v8.16b, {v8.16b}, v19.16b
    mla     \total0123\().4s, v20.4s, v9.4s
    mla     \total4567\().4s, v21.4s, v10.4s
    mla     \total0123\().4s, v22.4s, v11.4s
    mla     \total4567\().4s, v23.4s, v8.4s
.endm

// v20, v21 += minima of sub-blocks 2p and 2p + 1, bytes in `pair`, by their sums in v0.
.macro add_minima pair, sum, multiply
    ushll   v14.8h, \pair\().8b, #0
    ushll2  v15.8h, \pair\().16b, #0
    \multiply   v20.4s, v14.4h, v0.h[\sum]
    \multiply\()2 v21.4s, v14.8h, v0.h[\sum]
    smlal   v20.4s, v15.4h, v0.h[\sum + 1]
    smlal2  v21.4s, v15.8h, v0.h[\sum + 1]
.endm

// y of a group += its integers and minima; v1 is the scale of x.
.macro finish_group meta, total0123, total4567, y0123, y4567
    ld1     {v2.8h, v3.8h}, [\meta], #32
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [\meta], #64
    ld1     {v6.16b, v7.16b}, [\meta], meta_step
    ushr    v8.16b, v8.16b, #6
    ushr    v9.16b, v9.16b, #6
    ushr    v10.16b, v10.16b, #6
    ushr    v11.16b, v11.16b, #6
    ushr    v12.16b, v6.16b, #4
    ushr    v13.16b, v7.16b, #4
    sli     v8.16b, v6.16b, #2
    sli     v9.16b, v7.16b, #2
    sli     v10.16b, v12.16b, #2
    sli     v11.16b, v13.16b, #2
    and     v8.16b, v8.16b, six_bits.16b
    and     v9.16b, v9.16b, six_bits.16b
    add_minima v8, 0, smull
    add_minima v9, 2, smlal
    add_minima v10, 4, smlal
    add_minima v11, 6, smlal
    fcvtl   v12.4s, v2.4h
    fcvtl2  v13.4s, v2.8h
    fcvtl   v14.4s, v3.4h
    fcvtl2  v15.4s, v3.8h
    fmul    v12.4s, v12.4s, v1.s[0]
    fmul    v13.4s, v13.4s, v1.s[0]
    scvtf   \total0123\().4s, \total0123\().4s
    scvtf   \total4567\().4s, \total4567\().4s
    fmul    v14.4s, v14.4s, v1.s[0]
    fmul    v15.4s, v15.4s, v1.s[0]
    fmla    \y0123\().4s, \total0123\().4s, v12.4s
    fmla    \y4567\().4s, \total4567\().4s, v13.4s
    scvtf   v20.4s, v20.4s
    scvtf   v21.4s, v21.4s
    fmls    \y0123\().4s, v20.4s, v14.4s
    fmls    \y4567\().4s, v21.4s, v15.4s
.endm

.macro blocks_q4k
    mov     first_meta, first
    mov     second_meta, second
    movi    low_mask.16b, #15
    movi    six_bits.16b, #63
    mov_word spread, 0xffffff00            // words of byte 0; 0xff gives zero
    dup     v16.4s, spread
    add     spread, spread, #1
    ins     v16.s[1], spread
    add     spread, spread, #1
    ins     v16.s[2], spread
    add     spread, spread, #1
    ins     v16.s[3], spread
    movi    v19.4s, #4
    add     v17.4s, v16.4s, v19.4s
    add     v18.4s, v17.4s, v19.4s
    add     v19.4s, v18.4s, v19.4s
    mov     meta_step, #Q4K_BYTES - Q4K_MINS
.Lblock\@:
    add     first_scale, first_meta, #Q4K_SCALES
    add     second_scale, second_meta, #Q4K_SCALES
    add     first, first_meta, #Q4K_QUANTS
    add     second, second_meta, #Q4K_QUANTS
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
    mov     part_left, #4
.Lsub_blocks\@:
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [block], #64
    group_part first, first_scale, v24, v25
    group_part second, second_scale, v26, v27
    subs    part_left, part_left, #1
    b.ne    .Lsub_blocks\@
    ld1     {v0.8h, v1.8h}, [block], #32
    addp    v0.8h, v0.8h, v1.8h         // sums of 32 columns
    ld1     {v1.4s}, [block], #16
    finish_group first_meta, v24, v25, v28, v29
    finish_group second_meta, v26, v27, v30, v31
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

func gemv_f32_q4kx8_q8k_neon_dotprod, dotprod
    gemv_pairs blocks_q4k, COLS_K_LOG2, Q4K_BYTES, 0
endfunc gemv_f32_q4kx8_q8k_neon_dotprod
