// void gemm_f32_fig4x8_q8kx4_neon(float *y, const void *w, const struct block_q8kx4 *x,
//                                 const struct gemm_shape *shape, const struct nibble_table *table)
//
// x0-x17 as named in gemm_neon.h, x4 table at first; sums of a tile are in gemm_int8_neon.h
// Clobbers x0-x17, v0-v7, v16-v31; x19, x20 and d8-d15 are saved. 4.1 KiB of stack.
//
// A slice is a block of x, 256 columns, the last one of a row maybe 128: one or two blocks of weights
// become scales and int8 in scratch once for 64 tokens. No value is -128, so that two products fit an
// int16.
#include "kernels/arm64/matrix/gemm/gemm_int8_neon.h"

#define halves x20              // of the slice
#define HALF_COLUMNS (8 * FIG4_COLS)    // bytes of weights
#define HALF_ACTS (4 * FIG4_COLS)       // of x
#define SCRATCH_BYTES (2 * (QUANTS + HALF_COLUMNS))

.macro decode_halves
    begin_decode
    ldr     halves, [shape, #SHAPE_COLS]
    ubfx    halves, halves, #FIG4_COLS_LOG2, #1 // 1: the row's last slice has one
    cmp     blocks_left, #1
    csel    halves, halves, xzr, eq
    mov     count, #2
    sub     halves, count, halves
    mov     count, halves
.Lblock\@:
    ld1     {v0.8h}, [weights], #16
    st1     {v0.8h}, [tile_weights], #16
    decode_run
    decode_run
    decode_run
    decode_run
    subs    count, count, #1
    b.ne    .Lblock\@
.endm

// y of the tile += 128 columns, the scales of whose x lie `scales` bytes after them.
.macro add_half scales
    add     tile_weights, tile_weights, #QUANTS
    add     tile_scales, tile_weights, #HALF_COLUMNS
    pair    saddlp
    pair    sadalp
.Lpairs\@:
    pair    sadalp
    pair    sadalp
    cmp     tile_weights, tile_scales
    b.ne    .Lpairs\@
    sub     tile_scales, tile_weights, #QUANTS + HALF_COLUMNS
    add     count, tile_acts, #\scales
    ld1     {v2.8h}, [tile_scales]
    ld1     {v0.4s}, [count]
    add_block_sums
.endm

.macro tile_halves
    add     tile_weights, sp, #FRAME_SCRATCH
    add_half Q8KX4_SCALE - HALF_ACTS
    cmp     halves, #1
    b.eq    .Lodd\@
    add_half Q8KX4_SCALE - 2 * HALF_ACTS
    sub     tile_acts, tile_acts, #HALF_ACTS
.Lodd\@:
    add     tile_acts, tile_acts, #Q8KX4_BYTES - HALF_ACTS
    add     tile_out, tile_out, #128
.endm

func gemm_f32_fig4x8_q8kx4_neon
    push_pair x19, x20, 16
    mov     table_at, x4
    gemm_begin SCRATCH_BYTES, COLS_K_LOG2, Q8KX4_BYTES
    gemm_loops decode_halves, tile_halves, Q8KX4_BYTES, 1
    gemm_end SCRATCH_BYTES, pop_table
endfunc gemm_f32_fig4x8_q8kx4_neon
