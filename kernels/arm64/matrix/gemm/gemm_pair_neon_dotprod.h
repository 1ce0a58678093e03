// Shared by the gemms of Q4_0 and Q8_0 with the dot product: a separate loop for two tokens, for example
// when one guessed token is checked. Weights are unpacked in registers as in the gemv, once for both
// tokens, and 16 rows share x as in the gemv: if one group is left, both halves compute the same rows.
//
// v0-v7 x of the 8 chunks of a block, 4 columns of 4 tokens each; v8-v11 weights, v12, v13 low nibbles; v14
// mask; v15 eight. The sums are in v16-v19 for the first token and v20-v23 for the second, y in v24-v27 and
// v28-v31, with 4 rows in each register.
#ifndef INGOT_KERNELS_ARM64_GEMM_PAIR_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMM_PAIR_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemm/gemm_neon_dotprod.h"

// Names in addition to out, weights, tokens, n_blocks and x_block of gemm_neon_dotprod.h.
#define pair_rows x7            // rows left
#define second_out x6           // y of the second token
#define magics x17              // 64 bytes of MAGIC
#define first x8                // weights of the two groups of rows
#define second x9
#define first_scale x11
#define second_scale x12
#define block_step x14
#define last_step_of_two x15
#define group_bytes x16

#define PAIR_AHEAD 768          // prefetch distance in bytes

// Set up a frame with the magics, n_blocks, block_step and other values that the loops keep.
.macro open_pair block_bytes
    save_vectors
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    mov     magics, sp
    mov_word w16, MAGIC
    dup     v0.4s, w16
    mov     v1.16b, v0.16b
    mov     v2.16b, v0.16b
    mov     v3.16b, v0.16b
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [magics]
    lsr     n_blocks, n_blocks, #COLS_LOG2
    mov     block_step, #\block_bytes
    mul     group_bytes, n_blocks, block_step
    mov     last_step_of_two, #64 + QUANTS  // skip the scales of the next block
.endm

.macro close_pair
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
    restore_vectors
.endm

// If there are two tokens, compute y; otherwise do nothing. `blocks` adds blocks_left >= 1 blocks,
// from first, second and x_block on, to y.
.macro gemm_of_two blocks, block_bytes
    ldp     n_tokens, second_out, [shape, #SHAPE_TOKENS]
    cmp     n_tokens, #2
    b.ne    .Lmany\@
    ldp     pair_rows, n_blocks, [shape, #SHAPE_ROWS]
    cbz     pair_rows, .Lnothing\@
    .cfi_remember_state
    add     second_out, out, second_out, lsl #2
    open_pair \block_bytes
.Lgroups\@:
    cmp     pair_rows, #8
    mov     first_scale, weights
    add     second_scale, weights, group_bytes
    csel    second_scale, second_scale, first_scale, hi
    add     first, first_scale, #QUANTS
    add     second, second_scale, #QUANTS
.irp y, v24.4s, v25.4s, v26.4s, v27.4s, v28.4s, v29.4s, v30.4s, v31.4s
    movi    \y, #0
.endr
    mov     x_block, tokens
    mov     blocks_left, n_blocks
    cbz     n_blocks, .Lstore\@
    \blocks
.Lstore\@:
    add     weights, weights, group_bytes, lsl #1
    subs    pair_rows, pair_rows, #16
    b.lo    .Llast_rows\@
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [out], #64
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [second_out], #64
    b.ne    .Lgroups\@
.Llast_rows\@:
    tbz     pair_rows, #3, .Lbelow_eight\@ // rows mod 16 (0 if all pairs were whole)
    st1     {v24.4s, v25.4s}, [out], #32
    st1     {v28.4s, v29.4s}, [second_out], #32
    mov     v24.16b, v26.16b
    mov     v25.16b, v27.16b
    mov     v28.16b, v30.16b
    mov     v29.16b, v31.16b
.Lbelow_eight\@:
    store_ragged v24, v25, out, pair_rows
    store_ragged v28, v29, second_out, pair_rows
    close_pair
.Lnothing\@:
    ret
    .cfi_restore_state
.Lmany\@:
.endm

// Load the quants of a block of x, and the start values of the sums.
.macro begin_pair_block
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [x_block], #64
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [magics]
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [x_block], #64
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [magics]
.endm

// Multiply 4 columns of 8 rows, of the first or the second group, by both tokens.
.macro pair_dots low, high, x_chunk, group
.if \group == 0
    sdot    v16.4s, \low\().16b, \x_chunk\().4b[0]
    sdot    v17.4s, \high\().16b, \x_chunk\().4b[0]
    sdot    v20.4s, \low\().16b, \x_chunk\().4b[1]
    sdot    v21.4s, \high\().16b, \x_chunk\().4b[1]
.else
    sdot    v18.4s, \low\().16b, \x_chunk\().4b[0]
    sdot    v19.4s, \high\().16b, \x_chunk\().4b[0]
    sdot    v22.4s, \low\().16b, \x_chunk\().4b[1]
    sdot    v23.4s, \high\().16b, \x_chunk\().4b[1]
.endif
.endm

// a to d, y of a token, += (its sums as floats - offset) * the scales v4-v7 of 16 rows * x_scale.
.macro add_token s0, s1, s2, s3, y0, y1, y2, y3, a, b, c, d, x_scale, offset
    fmul    \a\().4s, v4.4s, \x_scale
    fmul    \b\().4s, v5.4s, \x_scale
    fsub    \s0\().4s, \s0\().4s, \offset\().4s
    fsub    \s1\().4s, \s1\().4s, \offset\().4s
    fmul    \c\().4s, v6.4s, \x_scale
    fmul    \d\().4s, v7.4s, \x_scale
    fsub    \s2\().4s, \s2\().4s, \offset\().4s
    fsub    \s3\().4s, \s3\().4s, \offset\().4s
    fmla    \y0\().4s, \s0\().4s, \a\().4s
    fmla    \y1\().4s, \s1\().4s, \b\().4s
    fmla    \y2\().4s, \s2\().4s, \c\().4s
    fmla    \y3\().4s, \s3\().4s, \d\().4s
.endm

// Load the scales of x to v0, its sums to v1, and the scales of 16 rows to v4-v7.
.macro take_pair_scales
    ld1     {v0.4s, v1.4s}, [x_block], #32
    ld1     {v2.8h}, [first_scale], block_step
    ld1     {v3.8h}, [second_scale], block_step
    fcvtl   v4.4s, v2.4h
    fcvtl2  v5.4s, v2.8h
    fcvtl   v6.4s, v3.4h
    fcvtl2  v7.4s, v3.8h
.endm

// y of both tokens += the sums; first_offset and second_offset are the sums' start values plus the
// amounts by which sums are too large.
.macro add_both first_offset, second_offset
    add_token v16, v17, v18, v19, v24, v25, v26, v27, v10, v11, v12, v13, v0.s[0], \first_offset
    add_token v20, v21, v22, v23, v28, v29, v30, v31, v1, v2, v3, v10, v0.s[1], \second_offset
.endm

#endif
