// Like gemm_prepare_neon.h, for FIG4. A block of FIG4 has 128 columns, half a block of x. All
// counts are in blocks of x, except those called halves; the last block of a row may have only one
// half.
#ifndef INGOT_KERNELS_ARM64_GEMM_FIG4_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_FIG4_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

#define FIG4_SLICE 3                    // blocks of x
#define FIG4_SCALES (2 * FIG4_SLICE * PREPARED_SCALES)
#define FIG4_SCRATCH (FIG4_SLICE * 2048 + FIG4_SCALES)
#define FRAME_HALVES (FRAME_TILE + 64)  // after the start values: number of halves in the slice
#define FRAME_ODD (FRAME_TILE + 72)     // 1 if rows have an odd number of halves, else 0
#define HALF_BYTES (4 * FIG4_COLS)      // of x
#define cols_arg x15                    // before gemm_tiles

// Load the arguments before gemm_tiles.
.macro take_arguments
    mov     table_arg, x4
    ldr     cols_arg, [shape, #SHAPE_COLS]
.endm

.macro keep_arguments
    mov     other, table_arg
    ubfx    cols_arg, cols_arg, #FIG4_COLS_LOG2, #1
    str     cols_arg, [sp, #FRAME_ODD]
.endm

// blocks_left = halves in the slice
.macro count_halves
    ldr     temp, [sp, #FRAME_ODD]
    add     blocks_left, done, slice
    cmp     blocks_left, n_blocks
    csel    temp, temp, xzr, eq
    sub     blocks_left, temp, slice, lsl #1
    neg     blocks_left, blocks_left
    str     blocks_left, [sp, #FRAME_HALVES]
.endm

// Unpack the values of the nibbles; for each half, copy its scales and the magic.
.macro prepare_fig4
    begin_table FIG4_SCALES
    count_halves
.Lblock\@:
    load_scales
    mov     temp, #FIG4_COLS / BLOCK_COLS
    st1     {v1.4s, v2.4s, v3.4s}, [w_scale], #PREPARED_SCALES
.Lrun\@:
    prepare_run
    subs    temp, temp, #1
    b.ne    .Lrun\@
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

// Multiply a tile: `half` adds 128 columns of x_block to the sums; `add` adds the sums to y, with
// the scales of the rows at w_scale and of the tokens at temp.
.macro multiply_halves half, add
    ldr     blocks_left, [sp, #FRAME_HALVES]
.Lblock\@:
    begin_sums seeds
    \half
    add     temp, x_block, #Q8KX4_SCALE - HALF_BYTES
    \add
    subs    blocks_left, blocks_left, #1
    b.eq    .Lodd\@
    begin_sums seeds
    \half
    add     x_block, x_block, #Q8KX4_BYTES - 2 * HALF_BYTES
    sub     temp, x_block, #Q8KX4_BYTES - Q8KX4_SCALE
    \add
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    b       .Lend\@
.Lodd\@:
    add     x_block, x_block, #Q8KX4_BYTES - HALF_BYTES
.Lend\@:
.endm

#endif
