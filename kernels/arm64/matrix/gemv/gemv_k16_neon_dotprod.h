// Gemvs with the dot product over sub-blocks of 16 columns. One byte holds two bits each of four
// weights, which are in four sub-blocks: columns l, l + 32, l + 64 and l + 96.
//
// x0 y; x1 w; x2 x; x3 rows; x4 cols; x5 ahead; the loop is in gemv_neon_dotprod.h;
// v0-v3 x of 16 columns of each of four sub-blocks; v4-v7 two bits of 8 columns, v8-v11 signs;
// v16-v23 sums of the four, 8 rows each; v24-v27 integers of 16 rows over 256 columns; v12-v15
// temporaries; v28-v31 constants and temporaries, y is in the frame.
//
// A kernel that includes this defines columns_TYPE, load_signs_TYPE, scales_TYPE and second_half_TYPE.
#ifndef INGOT_KERNELS_ARM64_GEMV_K16_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMV_K16_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemv/gemv_neon_dotprod.h"

#define first_scale x11
#define second_scale x12
#define from_low x13            // offset of these columns' signs; negative in the second half
#define x_even x14              // columns 0-15 of 32
#define x_odd x15               // columns 16-31
#define x_step x16
#define high x19
#define half x20                // of 256 columns
#define y_room x14              // between blocks

// Multiply 8 columns, from column 4 * `column` of each x on.
.macro two_chunks type, group, column
    load_signs_\type \group
    prfm    pldl1keep, [\group, ahead]
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [\group], #64
    columns_\type v4, v8, v16, v18, v20, v22, \column
    columns_\type v5, v9, v17, v19, v21, v23, \column
    columns_\type v6, v10, v16, v18, v20, v22, \column + 1
    columns_\type v7, v11, v17, v19, v21, v23, \column + 1
.endm

// Load the scales of four sub-blocks as int16 into v8-v11: of the even sub-blocks (8b) or of the
// odd ones.
.macro widen_scales odd
.if \odd
    sshll2  v8.8h, v4.16b, #0
    sshll2  v9.8h, v5.16b, #0
    sshll2  v10.8h, v6.16b, #0
    sshll2  v11.8h, v7.16b, #0
.else
    sshll   v8.8h, v4.8b, #0
    sshll   v9.8h, v5.8b, #0
    sshll   v10.8h, v6.8b, #0
    sshll   v11.8h, v7.8b, #0
.endif
.endm

// Add (sums of a sub-block * its int16 scales) to the totals of a group.
.macro add_sub_block scale, total0123, total4567, sum0123, sum4567
    sshll   v12.4s, \scale\().4h, #0
    sshll2  v13.4s, \scale\().8h, #0
    mla     \total0123\().4s, \sum0123\().4s, v12.4s
    mla     \total4567\().4s, \sum4567\().4s, v13.4s
.endm

// Add four sub-blocks of a group.
.macro group_part type, group, scale, total0123, total4567, odd
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [seeds]
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [seeds]
    two_chunks \type, \group, 0
    two_chunks \type, \group, 2
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [\scale]
    scales_\type \odd
    add_sub_block v8, \total0123, \total4567, v16, v17
    add_sub_block v9, \total0123, \total4567, v18, v19
    add_sub_block v10, \total0123, \total4567, v20, v21
    add_sub_block v11, \total0123, \total4567, v22, v23
.endm

// Multiply 16 columns of each of four sub-blocks, for both groups.
.macro pair_part type, x_at, odd
    ld1     {v0.16b}, [\x_at], x_step
    ld1     {v1.16b}, [\x_at], x_step
    ld1     {v2.16b}, [\x_at], x_step
    ld1     {v3.16b}, [\x_at], x_step
    group_part \type, first, first_scale, v24, v25, \odd
    group_part \type, second, second_scale, v26, v27, \odd
.endm

// Multiply 256 columns of both groups, from `scales_at` and `low_at` in their blocks on.
.macro sum_block type, scales_at, low_at
    add     first_scale, first, #\scales_at
    add     second_scale, second, #\scales_at
    add     first, first, #\low_at
    add     second, second, #\low_at
    mov     x_even, block
    add     x_odd, block, #16
    mov     half, #2
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
.Lhalf\@:
    pair_part \type, x_even, 0
    pair_part \type, x_odd, 1
    add     first_scale, first_scale, #64
    add     second_scale, second_scale, #64
    subs    half, half, #1
    second_half_\type
    b.ne    .Lhalf\@
.endm

.macro keep_y
    add     y_room, seeds, #64
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [y_room]
.endm

.macro take_y a, b, c, d
    add     y_room, seeds, #64
    ld1     {\a\().4s, \b\().4s, \c\().4s, \d\().4s}, [y_room]
.endm

#endif
