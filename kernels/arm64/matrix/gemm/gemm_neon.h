// Shared by the int8 gemm kernels: the loops around a tile of 8 rows and 4 tokens.
//
//   - A pass takes up to 64 tokens, so that their y of 8 rows fits on the stack.
//   - For each group of 8 rows, a pass takes one slice of columns after the other.
//   - The weights of a slice are decoded once for the pass.
//   - The slice is multiplied by 4 tokens at a time (a tile).
//   - The weights stay in L1 meanwhile, and x streams by.
//   - After the last slice, y of the group is copied from the stack.
//
// The blocks of a row are added in ascending order, so that each token's sums equal those of the
// gemv.
#ifndef INGOT_KERNELS_ARM64_GEMM_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_NEON_H

#include "kernels/arm64/asm.h"

#define out x0          // y of the pass
#define weights x1      // weights of the group of rows, from the slice on
#define acts x2         // x of the pass
#define shape x3
#define rows_left x4
#define n_blocks x5     // of a row
#define blocks_left x6
#define slice x7        // blocks in it
#define tokens_left x8
#define slice_acts x9   // x of the slice, starting with the pass's first tokens
#define groups_left x10
#define tile_acts x11   // pointer to x, which each tile advances
#define tile_weights x12 // pointer to decoded weights, which each tile advances
#define tile_scales x13 // pointer to their scales, which each tile advances
#define count x14
#define tile_out x15    // y of the tile: 4 times 8 floats
#define x_group_bytes x16 // bytes in x from 4 tokens to the next 4
#define group_out x17   // y of the group of rows

#define PASS_TOKENS 64
#define FRAME_W 0       // on the stack: w
#define FRAME_SKIP 8    // bytes of x from a slice's end to the slice's start for the next 4 tokens
#define FRAME_OUT 16    // y of the pass, then the decoded weights
#define FRAME_SCRATCH (FRAME_OUT + PASS_TOKENS * 32)

// Set up the frame; if there is nothing to do, go to .Lgemm_done in gemm_end. A block has 1 <<
// cols_log2 columns (the last one of FIG4 may have fewer) and x_bytes for 4 tokens.
.macro gemm_begin scratch_bytes, cols_log2, x_bytes
    ldp     rows_left, n_blocks, [shape, #SHAPE_ROWS]
    ldr     tokens_left, [shape, #SHAPE_TOKENS]
    cbz     rows_left, .Lgemm_done
    cbz     tokens_left, .Lgemm_done
    save_vectors
    sub     sp, sp, #(FRAME_SCRATCH + \scratch_bytes) >> 12 << 12
    sub     sp, sp, #(FRAME_SCRATCH + \scratch_bytes) & 0xfff
    .cfi_adjust_cfa_offset FRAME_SCRATCH + \scratch_bytes
    add     n_blocks, n_blocks, #(1 << \cols_log2) - 1
    lsr     n_blocks, n_blocks, #\cols_log2
    mov     x_group_bytes, #\x_bytes
    mul     x_group_bytes, x_group_bytes, n_blocks
    str     weights, [sp, #FRAME_W]
.endm

// `after` is code that undoes what the kernel did before gemm_begin.
.macro gemm_end scratch_bytes, after
    add     sp, sp, #(FRAME_SCRATCH + \scratch_bytes) >> 12 << 12
    add     sp, sp, #(FRAME_SCRATCH + \scratch_bytes) & 0xfff
    .cfi_adjust_cfa_offset -(FRAME_SCRATCH + \scratch_bytes)
    restore_vectors
.Lgemm_done:
    \after
    ret
.endm

// count = the number of tokens in this pass
.macro pass_tokens
    mov     count, #PASS_TOKENS
    cmp     tokens_left, count
    csel    count, tokens_left, count, lo
.endm

// decode: unpack `slice` blocks from weights to sp + FRAME_SCRATCH. tile: multiply the same blocks
// by x at tile_acts, add the products to y at tile_out, and move tile_acts past the slice and
// tile_out to the next tile. decode or slice_end moves weights past the slice. All three may use
// count, tile_weights, tile_scales and all vectors; decode may also use the pointers of the tiles.
.macro gemm_loops decode, tile, x_bytes, slice_blocks, slice_end
.Lpass\@:
    ldr     rows_left, [shape, #SHAPE_ROWS]
    ldr     weights, [sp, #FRAME_W]
    mov     group_out, out
.Lgroup\@:
    pass_tokens
    add     tile_out, sp, #FRAME_OUT
    movi    v0.16b, #0
    movi    v1.16b, #0
.Lclear\@:
    subs    count, count, #1
    st1     {v0.4s, v1.4s}, [tile_out], #32
    b.ne    .Lclear\@
    mov     slice_acts, acts
    mov     blocks_left, n_blocks
    cbz     n_blocks, .Lstore\@
.Lslice\@:
    mov     slice, #\slice_blocks
    cmp     blocks_left, slice
    csel    slice, blocks_left, slice, lo
    mov     count, #\x_bytes
    msub    count, slice, count, x_group_bytes
    str     count, [sp, #FRAME_SKIP]
    \decode
    pass_tokens
    add     groups_left, count, #3
    lsr     groups_left, groups_left, #2
    mov     tile_acts, slice_acts
    add     tile_out, sp, #FRAME_OUT
.Ltile\@:
    \tile
    ldr     count, [sp, #FRAME_SKIP]
    subs    groups_left, groups_left, #1
    add     tile_acts, tile_acts, count
    b.ne    .Ltile\@
    \slice_end
    mov     count, #\x_bytes
    madd    slice_acts, slice, count, slice_acts
    subs    blocks_left, blocks_left, slice
    b.ne    .Lslice\@
.Lstore\@:
    pass_tokens
    ldr     tile_weights, [shape, #SHAPE_Y_STRIDE]
    add     tile_out, sp, #FRAME_OUT
    mov     tile_acts, group_out
    lsl     tile_weights, tile_weights, #2
    subs    rows_left, rows_left, #8
    b.lo    .Lstore_ragged_token\@
.Lstore_token\@:
    ld1     {v0.4s, v1.4s}, [tile_out], #32
    subs    count, count, #1
    st1     {v0.4s, v1.4s}, [tile_acts], tile_weights
    b.ne    .Lstore_token\@
    add     group_out, group_out, #32
    cbnz    rows_left, .Lgroup\@
    b       .Lnext_pass\@
.Lstore_ragged_token\@:
    ld1     {v0.4s, v1.4s}, [tile_out], #32
    mov     tile_scales, tile_acts
    subs    count, count, #1
    store_ragged v0, v1, tile_scales, rows_left
    add     tile_acts, tile_acts, tile_weights
    b.ne    .Lstore_ragged_token\@
.Lnext_pass\@:
    subs    tokens_left, tokens_left, #PASS_TOKENS
    b.ls    .Lend\@
    add     out, out, tile_weights, lsl #6
    add     acts, acts, x_group_bytes, lsl #4
    b       .Lpass\@
.Lend\@:
.endm

// sums of token: rows 01, 23, 45, 67 in 8 lanes of int16 each, (+)= 4 columns
.macro token_products rows01, rows23, rows45, rows67, x_chunk, w_low, w_high, multiply
    \multiply   \rows01\().8h, \w_low\().8b, \x_chunk\().8b
    \multiply\()2 \rows23\().8h, \w_low\().16b, \x_chunk\().16b
    \multiply   \rows45\().8h, \w_high\().8b, \x_chunk\().8b
    \multiply\()2 \rows67\().8h, \w_high\().16b, \x_chunk\().16b
.endm

// The sums of 4 tokens, v16-v31 in order, = or += the products of 4 columns of each token, v0-v3
.macro chunk_products w_low, w_high, multiply
    token_products v16, v17, v18, v19, v0, \w_low, \w_high, \multiply
    token_products v20, v21, v22, v23, v1, \w_low, \w_high, \multiply
    token_products v24, v25, v26, v27, v2, \w_low, \w_high, \multiply
    token_products v28, v29, v30, v31, v3, \w_low, \w_high, \multiply
.endm

// Multiply two chunks of 4 columns from tile_weights and tile_acts; v16-v31 as in chunk_products.
// Destroys v0-v7.
.macro two_chunk_products multiply
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [tile_acts], #16
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [tile_weights], #64
    chunk_products v4, v5, \multiply
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [tile_acts], #16
    chunk_products v6, v7, smlal
.endm

// One operation on rows 0-3 and 4-7 of 4 tokens: v16, v18 to v30. Tokens alternate within each
// step, because a core that issues in order would otherwise wait for each result.
.macro each_sum operation, bits
    \operation v16.4s, v16.\bits
    \operation v18.4s, v18.\bits
    \operation v20.4s, v20.\bits
    \operation v22.4s, v22.\bits
    \operation v24.4s, v24.\bits
    \operation v26.4s, v26.\bits
    \operation v28.4s, v28.\bits
    \operation v30.4s, v30.\bits
.endm

// v16, v18 to v30 = the sums as int32; the sum of two int16 lanes must fit in an int16.
.macro fold_sums
    addp    v16.8h, v16.8h, v17.8h
    addp    v18.8h, v18.8h, v19.8h
    addp    v20.8h, v20.8h, v21.8h
    addp    v22.8h, v22.8h, v23.8h
    addp    v24.8h, v24.8h, v25.8h
    addp    v26.8h, v26.8h, v27.8h
    addp    v28.8h, v28.8h, v29.8h
    addp    v30.8h, v30.8h, v31.8h
    each_sum saddlp, 8h
.endm

// v17, v19 to v31 = scales of rows 0-3 and 4-7 in low and high, each times x_scale.s[token]
.macro scale_tokens low, high, x_scale
    fmul    v17.4s, \low\().4s, \x_scale\().s[0]
    fmul    v19.4s, \high\().4s, \x_scale\().s[0]
    fmul    v21.4s, \low\().4s, \x_scale\().s[1]
    fmul    v23.4s, \high\().4s, \x_scale\().s[1]
    fmul    v25.4s, \low\().4s, \x_scale\().s[2]
    fmul    v27.4s, \high\().4s, \x_scale\().s[2]
    fmul    v29.4s, \low\().4s, \x_scale\().s[3]
    fmul    v31.4s, \high\().4s, \x_scale\().s[3]
.endm

// y of 4 tokens, 2 registers each in a to h, += (`add` is fmla) or -= (fmls) the sums * the scales
.macro add_tokens add, a, b, c, d, e, f, g, h
    \add    \a\().4s, v16.4s, v17.4s
    \add    \b\().4s, v18.4s, v19.4s
    \add    \c\().4s, v20.4s, v21.4s
    \add    \d\().4s, v22.4s, v23.4s
    \add    \e\().4s, v24.4s, v25.4s
    \add    \f\().4s, v26.4s, v27.4s
    \add    \g\().4s, v28.4s, v29.4s
    \add    \h\().4s, v30.4s, v31.4s
.endm

// For the K formats. Totals of 4 tokens over 256 columns, int32, rows 0-3 and 4-7: v8-v15.
.macro zero_totals
    movi    v8.4s, #0
    movi    v9.4s, #0
    movi    v10.4s, #0
    movi    v11.4s, #0
    movi    v12.4s, #0
    movi    v13.4s, #0
    movi    v14.4s, #0
    movi    v15.4s, #0
.endm

// totals += (mla) or -= (mls) the folded sums * the scales of a sub-block
.macro scale_sums multiply, low, high
    \multiply     v8.4s, v16.4s, \low\().4s
    \multiply     v9.4s, v18.4s, \high\().4s
    \multiply     v10.4s, v20.4s, \low\().4s
    \multiply     v11.4s, v22.4s, \high\().4s
    \multiply     v12.4s, v24.4s, \low\().4s
    \multiply     v13.4s, v26.4s, \high\().4s
    \multiply     v14.4s, v28.4s, \low\().4s
    \multiply     v15.4s, v30.4s, \high\().4s
.endm

.macro totals_to_f32
    scvtf   v8.4s, v8.4s
    scvtf   v9.4s, v9.4s
    scvtf   v10.4s, v10.4s
    scvtf   v11.4s, v11.4s
    scvtf   v12.4s, v12.4s
    scvtf   v13.4s, v13.4s
    scvtf   v14.4s, v14.4s
    scvtf   v15.4s, v15.4s
.endm

// v24-v31 = scales of rows 0-3 and 4-7 in low and high, each times x_scale.s[token]
.macro scale_totals low, high, x_scale
    fmul    v24.4s, \low\().4s, \x_scale\().s[0]
    fmul    v25.4s, \high\().4s, \x_scale\().s[0]
    fmul    v26.4s, \low\().4s, \x_scale\().s[1]
    fmul    v27.4s, \high\().4s, \x_scale\().s[1]
    fmul    v28.4s, \low\().4s, \x_scale\().s[2]
    fmul    v29.4s, \high\().4s, \x_scale\().s[2]
    fmul    v30.4s, \low\().4s, \x_scale\().s[3]
    fmul    v31.4s, \high\().4s, \x_scale\().s[3]
.endm

// y of 4 tokens in v16-v23 += (add is fmla) or -= (fmls) the totals times v24-v31
.macro add_totals add
    \add    v16.4s, v8.4s, v24.4s
    \add    v17.4s, v9.4s, v25.4s
    \add    v18.4s, v10.4s, v26.4s
    \add    v19.4s, v11.4s, v27.4s
    \add    v20.4s, v12.4s, v28.4s
    \add    v21.4s, v13.4s, v29.4s
    \add    v22.4s, v14.4s, v30.4s
    \add    v23.4s, v15.4s, v31.4s
.endm

#endif
