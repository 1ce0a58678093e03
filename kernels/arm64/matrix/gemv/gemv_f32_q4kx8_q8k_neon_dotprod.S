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
#include "kernels/arm64/matrix/gemv/gemv_q4k_neon_dotprod.h"

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
    chunk   v12, v13, v1, v3, 2
    chunk   v14, v15, v1, v3, 3
    add_sub_blocks \scale, \total0123, \total4567
.endm

.macro blocks_q4k
    mov     first_meta, first
    mov     second_meta, second
    movi    low_mask.16b, #15
    movi    six_bits.16b, #63
    place_spread
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
