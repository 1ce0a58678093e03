// The gemm of Q4_0 without the dot product: the loops around a tile of 16 rows and 4 tokens.
//
//   - The kernel takes 16 rows at a time, and of these rows one slice of columns after another.
//   - The weights of a slice are decoded once for all tokens.
//   - The slice is multiplied by 4 tokens at a time (a tile).
//   - x streams by, and y is in memory.
//
// Here a chunk of 4 columns is two pairs of columns; a pair has 8 rows side by side. The sums of a pair's
// columns are in neighbouring lanes of int16, so one widening addition folds them. Sums of whole chunks
// would need one more addition. Pairs of x take twice as many broadcasts as chunks of x would, so two
// groups of 8 rows share each broadcast. The sums of two groups leave no registers for y, so each token
// needs one load and one store of y.
//
// y of a missing token goes to a row of the frame. If rows are missing, y of the tile is in the frame.
// If the second group is missing, the first one takes its place.
#ifndef INGOT_KERNELS_ARM64_GEMM_WIDE_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_WIDE_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_neon.h"

// Names are as in gemm_neon.h, except for these:
#define x_skip x3       // bytes of x from the end of a slice to its start for the next 4 tokens
#define first_group x9  // weights to decode next
#define second_group x10
#define n_tokens x17
#define y_first x19     // y of the tile, a pointer for each token
#define y_second x20
#define y_third x21
#define y_fourth x22
#define y_stride x23    // bytes
#define done x24        // blocks in earlier slices
#define group_bytes x25 // bytes in weights from 8 rows to the next 8
#define step x26        // while decoding: bytes from a chunk of a group to the group's next chunk
#define row_at x9       // copying a ragged tile
#define tile_row x10
#define words x12
#define word w14

#define WIDE_BLOCKS 18  // of a slice
#define WIDE_TILE 0     // on the stack: y of a ragged tile,
#define WIDE_SCALES 256 // 16 scales a block,
#define WIDE_WEIGHTS (WIDE_SCALES + WIDE_BLOCKS * 64) // 8 chunks, each with 2 pairs of one group, then 2 of the other
#define WIDE_STACK (WIDE_WEIGHTS + WIDE_BLOCKS * 512)

.macro open_wide
    push_pair x19, x20, 128
    save_pair x21, x22, 16
    save_pair x23, x24, 32
    save_pair x25, x26, 48
    save_pair d8, d9, 64
    save_pair d10, d11, 80
    save_pair d12, d13, 96
    save_pair d14, d15, 112
    take_stack WIDE_STACK
.endm

.macro close_wide
    give_stack WIDE_STACK
    restore_pair x21, x22, 16
    restore_pair x23, x24, 32
    restore_pair x25, x26, 48
    restore_pair d8, d9, 64
    restore_pair d10, d11, 80
    restore_pair d12, d13, 96
    restore_pair d14, d15, 112
    pop_pair x19, x20, 128
.endm

// ---- weights ---------------------------------------------------------

// Centre the nibbles of 8 rows in the four registers, and store them as pairs of columns at
// tile_weights.
.macro store_centred first, second, third, fourth
    sub     \first\().16b, \first\().16b, v31.16b
    sub     \second\().16b, \second\().16b, v31.16b
    sub     \third\().16b, \third\().16b, v31.16b
    sub     \fourth\().16b, \fourth\().16b, v31.16b
    st1     {\first\().16b, \second\().16b}, [tile_weights], step
    st1     {\third\().16b, \fourth\().16b}, [tile_weights], step
.endm

.macro part_nibbles low, high
    and     \low\().16b, \high\().16b, v30.16b
    ushr    \high\().16b, \high\().16b, #4
.endm

// Unpack `slice` blocks of the 8 rows at `group` as half 0 or 1 of the 16 rows, and move `group` past
// them.
.macro decode_half group, half
    mov     count, slice
    add     tile_scales, sp, #WIDE_SCALES + 32 * \half
    add     tile_weights, sp, #WIDE_WEIGHTS + 32 * \half
.Lblock\@:
    ld1     {v0.8h}, [\group], #16
    ld1     {v16.8h, v17.8h, v18.8h, v19.8h}, [\group], #64
    ld1     {v20.8h, v21.8h, v22.8h, v23.8h}, [\group], #64
    subs    count, count, #1
    fcvtl   v2.4s, v0.4h
    fcvtl2  v3.4s, v0.8h
    uzp1    v24.8h, v16.8h, v17.8h
    uzp2    v25.8h, v16.8h, v17.8h
    uzp1    v26.8h, v18.8h, v19.8h
    uzp2    v27.8h, v18.8h, v19.8h
    uzp1    v4.8h, v20.8h, v21.8h
    uzp2    v5.8h, v20.8h, v21.8h
    uzp1    v6.8h, v22.8h, v23.8h
    uzp2    v7.8h, v22.8h, v23.8h
    st1     {v2.4s, v3.4s}, [tile_scales], step
    part_nibbles v16, v24
    part_nibbles v17, v25
    part_nibbles v18, v26
    part_nibbles v19, v27
    part_nibbles v20, v4
    part_nibbles v21, v5
    part_nibbles v22, v6
    part_nibbles v23, v7
    store_centred v16, v17, v18, v19
    store_centred v20, v21, v22, v23
    store_centred v24, v25, v26, v27
    store_centred v4, v5, v6, v7
    b.ne    .Lblock\@
.endm

.macro decode_slice
    mov     count, #Q4X8_BYTES
    madd    first_group, done, count, weights
    add     second_group, first_group, group_bytes
    cmp     rows_left, #8
    csel    second_group, second_group, first_group, hi
    mov     step, #64
    movi    v30.16b, #15
    movi    v31.16b, #8
    decode_half first_group, 0
    decode_half second_group, 1
.endm

// ---- a tile ----------------------------------------------------------

// Set y_first to y_fourth to y of the tile's tokens; for a missing token, set the pointer to the frame.
.macro place_tile
    mov     y_first, tile_out
    add     y_second, y_first, y_stride
    add     y_third, y_second, y_stride
    add     y_fourth, y_third, y_stride
    cmp     tokens_left, #4
    b.hs    .Lplaced\@
    add     count, sp, #WIDE_TILE
    mov     y_fourth, count
    cmp     tokens_left, #3
    csel    y_third, y_third, count, hs
    cmp     tokens_left, #2
    csel    y_second, y_second, count, hs
.Lplaced\@:
.endm

.macro place_ragged_tile
    add     y_first, sp, #WIDE_TILE
    add     y_second, y_first, #64
    add     y_third, y_first, #128
    add     y_fourth, y_first, #192
.endm

.macro clear_tile
    movi    v0.4s, #0
    movi    v1.4s, #0
    movi    v2.4s, #0
    movi    v3.4s, #0
.irp y, y_first, y_second, y_third, y_fourth
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [\y]
.endr
.endm

// Copy the valid rows of a ragged tile from y to the frame or back;
// `from` and `into` are row_at and tile_row. Destroys blocks_left.
.macro copy_tile from, into
    mov     row_at, tile_out
    add     tile_row, sp, #WIDE_TILE
    mov     blocks_left, #4
    cmp     tokens_left, #4
    csel    blocks_left, tokens_left, blocks_left, lo
.Ltoken\@:
    mov     words, rows_left
.Lword\@:
    sub     words, words, #1
    ldr     word, [\from, words, lsl #2]
    str     word, [\into, words, lsl #2]
    cbnz    words, .Lword\@
    add     row_at, row_at, y_stride
    add     tile_row, tile_row, #64
    subs    blocks_left, blocks_left, #1
    b.ne    .Ltoken\@
.endm

// Set the sums of two tokens, four registers each, to the products of a pair of columns of both groups,
// or add these products to them.
.macro pair_products a, b, c, d, e, f, g, h, x_first, x_second, first, second, multiply
    token_products \a, \b, \c, \d, \x_first, \first, \second, \multiply
    token_products \e, \f, \g, \h, \x_second, \first, \second, \multiply
.endm

// Multiply a chunk of 4 columns, with the weights in a to d; meanwhile the macro `next` loads x of the
// following chunk.
.macro wide_chunk a, b, c, d, multiply, next:vararg
    ld4r    {v4.8h, v5.8h, v6.8h, v7.8h}, [tile_acts], #8
    pair_products v16, v17, v18, v19, v20, v21, v22, v23, v0, v2, \a, \c, \multiply
    pair_products v16, v17, v18, v19, v20, v21, v22, v23, v1, v3, \b, \d, smlal
    \next
    pair_products v24, v25, v26, v27, v28, v29, v30, v31, v4, v6, \a, \c, \multiply
    pair_products v24, v25, v26, v27, v28, v29, v30, v31, v5, v7, \b, \d, smlal
.endm

.macro load_chunk a, b, c, d
    ld1     {\a\().16b, \b\().16b, \c\().16b, \d\().16b}, [tile_weights], #64
    ld4r    {v0.8h, v1.8h, v2.8h, v3.8h}, [tile_acts], #8
.endm

// v0 = d of x, v1 = the sums of x (centred nibbles do not need them), v8-v11 = the scales of 16 rows.
.macro load_wide_scales
    ld1     {v0.4s, v1.4s}, [tile_acts], #32
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_scales], #64
.endm

.macro each_of_four operation, bits, a, b, c, d
    \operation \a\().4s, \a\().\bits
    \operation \b\().4s, \b\().\bits
    \operation \c\().4s, \c\().\bits
    \operation \d\().4s, \d\().\bits
.endm

// y of a token += the sums in a to d as floats * the scales v8-v11 * x_scale.
.macro add_wide y, x_scale, a, b, c, d
    ld1     {v12.4s, v13.4s, v14.4s, v15.4s}, [\y]
    fmul    v4.4s, v8.4s, \x_scale
    fmul    v5.4s, v9.4s, \x_scale
    fmul    v6.4s, v10.4s, \x_scale
    fmul    v7.4s, v11.4s, \x_scale
    fmla    v12.4s, \a\().4s, v4.4s
    fmla    v13.4s, \b\().4s, v5.4s
    fmla    v14.4s, \c\().4s, v6.4s
    fmla    v15.4s, \d\().4s, v7.4s
    st1     {v12.4s, v13.4s, v14.4s, v15.4s}, [\y]
.endm

// The last chunk. The sums of the first two tokens become floats while the other two are
// multiplied, because a core like Cortex-A72 multiplies in only one of its two pipes.
.macro last_chunk a, b, c, d
    ld4r    {v4.8h, v5.8h, v6.8h, v7.8h}, [tile_acts], #8
    pair_products v16, v17, v18, v19, v20, v21, v22, v23, v0, v2, \a, \c, smlal
    pair_products v16, v17, v18, v19, v20, v21, v22, v23, v1, v3, \b, \d, smlal
    load_wide_scales
    token_products v24, v25, v26, v27, v4, \a, \c, smlal
    each_of_four saddlp, 8h, v16, v17, v18, v19
    token_products v28, v29, v30, v31, v6, \a, \c, smlal
    each_of_four saddlp, 8h, v20, v21, v22, v23
    token_products v24, v25, v26, v27, v5, \b, \d, smlal
    each_of_four scvtf, 4s, v16, v17, v18, v19
    token_products v28, v29, v30, v31, v7, \b, \d, smlal
    each_of_four scvtf, 4s, v20, v21, v22, v23
.endm

// Multiply `slice` blocks; moves tile_acts past them.
.macro wide_tile
    mov     blocks_left, slice
    add     tile_scales, sp, #WIDE_SCALES
    add     tile_weights, sp, #WIDE_WEIGHTS
.Lblock\@:
    load_chunk v8, v9, v10, v11
    wide_chunk v8, v9, v10, v11, smull, load_chunk v12, v13, v14, v15
.rept 3
    wide_chunk v12, v13, v14, v15, smlal, load_chunk v8, v9, v10, v11
    wide_chunk v8, v9, v10, v11, smlal, load_chunk v12, v13, v14, v15
.endr
    last_chunk v12, v13, v14, v15
    subs    blocks_left, blocks_left, #1
    each_of_four saddlp, 8h, v24, v25, v26, v27
    add_wide y_first, v0.s[0], v16, v17, v18, v19
    each_of_four saddlp, 8h, v28, v29, v30, v31
    each_of_four scvtf, 4s, v24, v25, v26, v27
    add_wide y_second, v0.s[1], v20, v21, v22, v23
    each_of_four scvtf, 4s, v28, v29, v30, v31
    add_wide y_third, v0.s[2], v24, v25, v26, v27
    add_wide y_fourth, v0.s[3], v28, v29, v30, v31
    b.ne    .Lblock\@
.endm

// ---- the loops -------------------------------------------------------

.macro gemm_wide
    ldr     rows_left, [shape, #SHAPE_ROWS]
    ldr     tokens_left, [shape, #SHAPE_TOKENS]
    cbz     rows_left, .Lnothing\@
    cbz     tokens_left, .Lnothing\@
    open_wide
    ldr     n_blocks, [shape, #SHAPE_COLS]
    ldp     n_tokens, y_stride, [shape, #SHAPE_TOKENS]
    mov     count, #Q4X8_BYTES
    lsr     n_blocks, n_blocks, #COLS_LOG2
    lsl     y_stride, y_stride, #2
    mul     group_bytes, n_blocks, count
.Lrows\@:
    mov     done, #0
.Lslice\@:
    mov     slice, #WIDE_BLOCKS
    sub     count, n_blocks, done
    cmp     count, slice
    csel    slice, count, slice, lo
    cbz     slice, .Ldecoded\@
    decode_slice
.Ldecoded\@:
    mov     count, #Q8X4_BYTES
    madd    tile_acts, done, count, acts
    sub     x_skip, n_blocks, slice
    mul     x_skip, x_skip, count
    mov     tokens_left, n_tokens
    mov     tile_out, out
.Ltile\@:
    cmp     rows_left, #16
    b.lo    .Lragged\@
    place_tile
    cbz     done, .Lclear\@
.Lmultiply\@:
    cbz     slice, .Lmultiplied\@
    wide_tile
.Lmultiplied\@:
    cmp     rows_left, #16
    b.lo    .Lcopy_back\@
.Lnext_tile\@:
    add     tile_acts, tile_acts, x_skip
    add     tile_out, tile_out, y_stride, lsl #2
    subs    tokens_left, tokens_left, #4
    b.hi    .Ltile\@
    add     done, done, slice
    cmp     done, n_blocks
    b.lo    .Lslice\@
    add     weights, weights, group_bytes, lsl #1
    add     out, out, #64
    subs    rows_left, rows_left, #16
    b.hi    .Lrows\@
    .cfi_remember_state
    close_wide
.Lnothing\@:
    ret
    .cfi_restore_state
.Lclear\@:
    clear_tile
    b       .Lmultiply\@
.Lragged\@:
    place_ragged_tile
    cbz     done, .Lclear\@
    copy_tile row_at, tile_row
    b       .Lmultiply\@
.Lcopy_back\@:
    copy_tile tile_row, row_at
    b       .Lnext_tile\@
.endm

#endif
