// Shared by the quantized gemms with the dot product: the loops around a tile of 8 rows and 4
// tokens, and the pieces of a tile.
//
// Eight rows of W are prepared for a slice of several blocks. They are decoded to int8 and to f32
// or int32 scales in scratch memory on the stack, which stays in the first-level cache. Then the
// slice is multiplied by four tokens at a time, with y of the tile in registers. Between slices y
// is in memory. If a tile lacks rows or tokens, its y is a copy on the stack. Frame and
// scratch stay within 8 KiB.
#ifndef INGOT_KERNELS_ARM64_GEMM_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMM_NEON_DOTPROD_H

#include "kernels/arm64/asm.h"

// Arguments, and registers of the loops. For the tile, y of token t is in v(24 + 2t) (rows 0 to 3)
// and v(25 + 2t). `prepare` may use x10-x16, `multiply` x11-x14 and x16, and both may use all other
// vectors; step (x15) keeps its value from `prepare` to `multiply`.
#define out x0                  // y of the group of rows
#define weights x1              // the next block to prepare
#define tokens x2               // x
#define shape x3
#define rows_left x3
#define n_blocks x4             // blocks of a row of W
#define n_tokens x5
#define stride x6               // bytes of a row of y
#define slice x7                // blocks of this slice
#define done x8                 // blocks in earlier slices
#define x_skip x9               // bytes of x from the end of a tile's slice to the next 4 tokens
#define x_block x10             // x, as the tile takes it
#define w_block x11             // tile: prepared weights
#define w_scale x12             // tile: prepared scales
#define blocks_left x13
#define temp x14
#define step x15                // tile: a constant
#define last_step x16           // tile: a constant
#define word w16
#define zeros x17               // 64 bytes of zero
#define other x19               // while preparing: a second pointer to weights
#define y_tile x20              // y of a ragged tile, if y_at points to a copy of it; else 0
#define tokens_left x21
#define y_at x22                // y of the tile
#define y_step x23              // bytes from a token's y to the next token's
#define quants x24              // prepared weights
#define factors x25             // prepared scales
#define seeds x26               // 64 bytes: the start values of the sums if they are not zero

// From sp on: zeros, the copy of a ragged tile, space for the tile, the scratch.
#define FRAME_COPY 64
#define FRAME_TILE 192
#define FRAME_SCRATCH 320
#define FRAME_SAVED 128

.macro open_frame scratch
    push_pair x19, x20, FRAME_SAVED
    save_pair x21, x22, 16
    save_pair x23, x24, 32
    save_pair x25, x26, 48
    save_pair d8, d9, 64
    save_pair d10, d11, 80
    save_pair d12, d13, 96
    save_pair d14, d15, 112
    take_stack FRAME_SCRATCH + \scratch
    mov     zeros, sp
    stp     xzr, xzr, [zeros]
    stp     xzr, xzr, [zeros, #16]
    stp     xzr, xzr, [zeros, #32]
    stp     xzr, xzr, [zeros, #48]
.endm

.macro close_frame scratch
    give_stack FRAME_SCRATCH + \scratch
    restore_pair x21, x22, 16
    restore_pair x23, x24, 32
    restore_pair x25, x26, 48
    restore_pair d8, d9, 64
    restore_pair d10, d11, 80
    restore_pair d12, d13, 96
    restore_pair d14, d15, 112
    pop_pair x19, x20, FRAME_SAVED
.endm

// Copy the valid part of a ragged tile from y to its copy
// or back: `from` and `into` are y_row and tile_row.
#define tile_row x11
#define tile_tokens x12
#define tile_words x13
#define y_row x14

.macro copy_tile from, into
    mov     y_row, y_tile
    add     tile_row, sp, #FRAME_COPY
    mov     tile_tokens, #4
    cmp     tokens_left, #4
    csel    tile_tokens, tokens_left, tile_tokens, lo
.Ltoken\@:
    mov     tile_words, #8
    cmp     rows_left, #8
    csel    tile_words, rows_left, tile_words, lo
.Lword\@:
    sub     tile_words, tile_words, #1
    ldr     word, [\from, tile_words, lsl #2]
    str     word, [\into, tile_words, lsl #2]
    cbnz    tile_words, .Lword\@
    add     y_row, y_row, stride
    add     tile_row, tile_row, #32
    subs    tile_tokens, tile_tokens, #1
    b.ne    .Ltoken\@
.endm

// Clear the registers of y, which the K formats use for totals.
.macro clear_tile
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [zeros]
    ld1     {v28.4s, v29.4s, v30.4s, v31.4s}, [zeros]
.endm

// Body of a gemm. A block has 1 << block_bits columns (the last one of FIG4 may have fewer) and x_bytes of x for 4
// tokens; a slice has slice_blocks. `prepare` unpacks `slice` >= 1 blocks at weights to quants and factors, and
// moves weights past them. `multiply` adds their products with x to y of the tile, and moves x past them.
.macro gemm_tiles prepare, multiply, block_bits, x_bytes, slice_blocks, scratch, begin
    ldp     n_tokens, stride, [shape, #SHAPE_TOKENS]
    ldp     rows_left, n_blocks, [shape, #SHAPE_ROWS]
    cbz     rows_left, .Ldone\@
    cbz     n_tokens, .Ldone\@
    lsl     stride, stride, #2
    add     n_blocks, n_blocks, #(1 << \block_bits) - 1
    lsr     n_blocks, n_blocks, #\block_bits
    cbz     n_blocks, .Lno_columns\@
    open_frame \scratch
    \begin
.Lrows\@:
    mov     done, #0
.Lslice\@:
    mov     slice, #\slice_blocks
    sub     temp, n_blocks, done
    cmp     temp, slice
    csel    slice, temp, slice, lo
    \prepare
    mov     temp, #\x_bytes
    madd    x_block, done, temp, tokens
    sub     x_skip, n_blocks, slice
    mul     x_skip, x_skip, temp
    mov     tokens_left, n_tokens
    mov     y_at, out
    mov     y_step, stride
    mov     y_tile, #0
.Ltile\@:
    cmp     tokens_left, #4
    ccmp    rows_left, #8, #0, hs       // lo: rows or tokens are missing
    b.lo    .Lragged\@
.Lbegin_sums\@:
    cbz     done, .Lfirst_slice\@
    mov     temp, y_at
    ld1     {v24.4s, v25.4s}, [temp], y_step
    ld1     {v26.4s, v27.4s}, [temp], y_step
    ld1     {v28.4s, v29.4s}, [temp], y_step
    ld1     {v30.4s, v31.4s}, [temp]
    b       .Lmultiply\@
.Lfirst_slice\@:
    clear_tile
.Lmultiply\@:
    mov     w_block, quants
    mov     w_scale, factors
    mov     blocks_left, slice
    \multiply
    st1     {v24.4s, v25.4s}, [y_at], y_step
    st1     {v26.4s, v27.4s}, [y_at], y_step
    st1     {v28.4s, v29.4s}, [y_at], y_step
    st1     {v30.4s, v31.4s}, [y_at], y_step
    cbnz    y_tile, .Lcopy_back\@
.Lnext_tile\@:
    add     x_block, x_block, x_skip
    subs    tokens_left, tokens_left, #4
    b.hi    .Ltile\@
    add     done, done, slice
    cmp     done, n_blocks
    b.lo    .Lslice\@
    add     out, out, #32
    subs    rows_left, rows_left, #8
    b.hi    .Lrows\@
    .cfi_remember_state
    close_frame \scratch
.Ldone\@:
    ret

.Lno_columns\@:                         // no columns: y = 0
    mov     temp, rows_left
.Lzero_word\@:
    sub     temp, temp, #1
    str     wzr, [out, temp, lsl #2]
    cbnz    temp, .Lzero_word\@
    add     out, out, stride
    subs    n_tokens, n_tokens, #1
    b.ne    .Lno_columns\@
    b       .Ldone\@

.Lragged\@:
    .cfi_restore_state                  // the frame still exists here
    mov     y_tile, y_at
    cbz     done, .Lcopied\@
    copy_tile y_row, tile_row
.Lcopied\@:
    add     y_at, sp, #FRAME_COPY
    mov     y_step, #32
    b       .Lbegin_sums\@
.Lcopy_back\@:
    copy_tile tile_row, y_row
    add     y_at, y_tile, stride, lsl #2
    mov     y_step, stride
    mov     y_tile, #0
    b       .Lnext_tile\@
.endm

// v16-v23 = four vectors at `from`. A load is better than a move here, because the load unit is
// less busy than the vector pipes.
.macro begin_sums from
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [\from]
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [\from]
.endm

// v3 and the start values at seeds = magic, MAGIC or MAGIC_16
.macro place_magic magic
    mov_word word, \magic
    add     seeds, sp, #FRAME_TILE
    mov     temp, seeds
    dup     v3.4s, word
    st1     {v3.4s}, [temp], #16
    st1     {v3.4s}, [temp], #16
    st1     {v3.4s}, [temp], #16
    st1     {v3.4s}, [temp], #16
.endm

// temp and step = the addresses in the frame of the two halves of the tile's y, 64 bytes each. The K formats use
// this, because their totals take the registers of y.
.macro locate_tile
    add     temp, sp, #FRAME_TILE
    add     step, sp, #FRAME_TILE + 64
.endm

.macro keep_tile
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [temp]
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [step]
.endm

.macro take_tile
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [temp]
    ld1     {v28.4s, v29.4s, v30.4s, v31.4s}, [step]
.endm

// Totals v24-v31 (= or) += the sums of a sub-block * its scales of rows 0-3 and 4-7.
.macro scale_sums multiply, low, high
    \multiply v24.4s, v16.4s, \low\().4s
    \multiply v25.4s, v17.4s, \high\().4s
    \multiply v26.4s, v18.4s, \low\().4s
    \multiply v27.4s, v19.4s, \high\().4s
    \multiply v28.4s, v20.4s, \low\().4s
    \multiply v29.4s, v21.4s, \high\().4s
    \multiply v30.4s, v22.4s, \low\().4s
    \multiply v31.4s, v23.4s, \high\().4s
.endm

// Sums of token t in v(16 + 2t) and v(17 + 2t) += 4 columns of 8 rows * 4 columns of 4 tokens.
.macro dot_chunk low, high, x_chunk
    sdot    v16.4s, \low\().16b, \x_chunk\().4b[0]
    sdot    v17.4s, \high\().16b, \x_chunk\().4b[0]
    sdot    v18.4s, \low\().16b, \x_chunk\().4b[1]
    sdot    v19.4s, \high\().16b, \x_chunk\().4b[1]
    sdot    v20.4s, \low\().16b, \x_chunk\().4b[2]
    sdot    v21.4s, \high\().16b, \x_chunk\().4b[2]
    sdot    v22.4s, \low\().16b, \x_chunk\().4b[3]
    sdot    v23.4s, \high\().16b, \x_chunk\().4b[3]
.endm

// Multiply 32 columns; the sums start from the 64 bytes at `from`; the last load moves w_block on
// by w_last.
.macro dot_32_columns from, w_last
    begin_sums \from
    add_32_columns \w_last
.endm

.macro add_32_columns w_last
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [x_block], #64
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [w_block], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [w_block], #64
    dot_chunk v0, v1, v8
    dot_chunk v2, v3, v9
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [x_block], #64
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [w_block], #64
    dot_chunk v4, v5, v10
    dot_chunk v6, v7, v11
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [w_block], \w_last
    dot_chunk v0, v1, v12
    dot_chunk v2, v3, v13
    dot_chunk v4, v5, v14
    dot_chunk v6, v7, v15
.endm

// y of token t += (sums of token t as floats - v10) * the scales v8, v9 of the rows * v11[t].
// Destroys v0-v7.
.macro add_scaled
    fmul    v0.4s, v8.4s, v11.s[0]
    fmul    v1.4s, v9.4s, v11.s[0]
    fmul    v2.4s, v8.4s, v11.s[1]
    fmul    v3.4s, v9.4s, v11.s[1]
    fsub    v16.4s, v16.4s, v10.4s
    fsub    v17.4s, v17.4s, v10.4s
    fmul    v4.4s, v8.4s, v11.s[2]
    fmul    v5.4s, v9.4s, v11.s[2]
    fsub    v18.4s, v18.4s, v10.4s
    fsub    v19.4s, v19.4s, v10.4s
    fmul    v6.4s, v8.4s, v11.s[3]
    fmul    v7.4s, v9.4s, v11.s[3]
    fsub    v20.4s, v20.4s, v10.4s
    fsub    v21.4s, v21.4s, v10.4s
    fsub    v22.4s, v22.4s, v10.4s
    fsub    v23.4s, v23.4s, v10.4s
    fmla    v24.4s, v16.4s, v0.4s
    fmla    v25.4s, v17.4s, v1.4s
    fmla    v26.4s, v18.4s, v2.4s
    fmla    v27.4s, v19.4s, v3.4s
    fmla    v28.4s, v20.4s, v4.4s
    fmla    v29.4s, v21.4s, v5.4s
    fmla    v30.4s, v22.4s, v6.4s
    fmla    v31.4s, v23.4s, v7.4s
.endm

#endif
