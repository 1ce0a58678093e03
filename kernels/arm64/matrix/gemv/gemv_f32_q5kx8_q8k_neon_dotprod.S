// void gemv_f32_q5kx8_q8k_neon_dotprod(float *y, const void *w, const struct block_q8k *x,
//                                      size_t rows, size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon_dotprod.h
// As gemv_f32_q4kx8_q8k_neon_dotprod, but for: v8, v9 nibbles and v10, v11 fifth bits of 4 columns,
// v12-v15 weights; v28, v29 what shifts the fifth bits of a sub-block to bit 4, v30 five bits; y is
// in the frame
// Clobbers x0-x17, v0-v7, v16-v31; x19, x20 and d8-d15 are saved.
#include "kernels/arm64/matrix/gemv/gemv_q4k_neon_dotprod.h"

#define first_high x19
#define second_high x20
#define y_room part_left        // between blocks

#define shift_low v28
#define shift_high v29
#define five_bits v30

// Four columns of 8 rows of both sub-blocks.
.macro chunk group, high, x_low, x_high, column
    ld1     {v8.16b, v9.16b}, [\group], #32
    ld1     {v10.16b, v11.16b}, [\high], #32
    ushl    v12.16b, v10.16b, shift_low.16b
    ushl    v13.16b, v11.16b, shift_low.16b
    ushl    v14.16b, v10.16b, shift_high.16b
    ushl    v15.16b, v11.16b, shift_high.16b
    bit     v12.16b, v8.16b, low_mask.16b
    bit     v13.16b, v9.16b, low_mask.16b
    sri     v14.16b, v8.16b, #4
    sri     v15.16b, v9.16b, #4
    and     v12.16b, v12.16b, five_bits.16b
    and     v13.16b, v13.16b, five_bits.16b
    and     v14.16b, v14.16b, five_bits.16b
    and     v15.16b, v15.16b, five_bits.16b
    sdot    v20.4s, v12.16b, \x_low\().4b[\column]
    sdot    v21.4s, v13.16b, \x_low\().4b[\column]
    sdot    v22.4s, v14.16b, \x_high\().4b[\column]
    sdot    v23.4s, v15.16b, \x_high\().4b[\column]
.endm

// 64 columns of a group.
.macro group_part group, high, scale, total0123, total4567
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [seeds]
    prfm    pldl1keep, [\group, ahead]
    chunk   \group, \high, v0, v2, 0
    chunk   \group, \high, v0, v2, 1
    prfm    pldl1keep, [\group, ahead]
    chunk   \group, \high, v0, v2, 2
    chunk   \group, \high, v0, v2, 3
    prfm    pldl1keep, [\group, ahead]
    chunk   \group, \high, v1, v3, 0
    chunk   \group, \high, v1, v3, 1
    prfm    pldl1keep, [\group, ahead]
    chunk   \group, \high, v1, v3, 2
    prfm    pldl1keep, [\high, ahead]
    chunk   \group, \high, v1, v3, 3
    sub     \high, \high, #256
    add_sub_blocks \scale, \total0123, \total4567
.endm

.macro blocks_q5k
    mov     first_meta, first
    mov     second_meta, second
    add     y_room, seeds, #64
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [y_room]
    movi    low_mask.16b, #15
    movi    six_bits.16b, #63
    place_spread
    mov     meta_step, #Q5K_BYTES - Q4K_MINS
.Lblock\@:
    add     first_scale, first_meta, #Q4K_SCALES
    add     second_scale, second_meta, #Q4K_SCALES
    add     first, first_meta, #Q4K_QUANTS
    add     second, second_meta, #Q4K_QUANTS
    add     first_high, first_meta, #Q5K_HIGH
    add     second_high, second_meta, #Q5K_HIGH
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
    movi    shift_low.16b, #4
    movi    shift_high.16b, #3
    movi    five_bits.16b, #31
    mov     part_left, #4
.Lsub_blocks\@:
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [block], #64
    group_part first, first_high, first_scale, v24, v25
    group_part second, second_high, second_scale, v26, v27
    movi    v6.16b, #2
    subs    part_left, part_left, #1
    sub     shift_low.16b, shift_low.16b, v6.16b
    sub     shift_high.16b, shift_high.16b, v6.16b
    b.ne    .Lsub_blocks\@
    ld1     {v0.8h, v1.8h}, [block], #32
    addp    v0.8h, v0.8h, v1.8h         // sums of 32 columns
    ld1     {v1.4s}, [block], #16
    add     y_room, seeds, #64
    ld1     {v28.4s, v29.4s, v30.4s, v31.4s}, [y_room]
    finish_group first_meta, v24, v25, v28, v29
    finish_group second_meta, v26, v27, v30, v31
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [y_room]
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

func gemv_f32_q5kx8_q8k_neon_dotprod, dotprod
    gemv_pairs blocks_q5k, COLS_K_LOG2, Q5K_BYTES, 0
endfunc gemv_f32_q5kx8_q8k_neon_dotprod
