// Shared by the gemms of Q4_0 and Q8_0 with the dot product: a separate loop for three or four tokens, for
// example when two or three guessed tokens are checked. Weights are unpacked in registers, once for all
// tokens. A scratch buffer pays off only over many tiles, as in the loops of gemm_neon_dotprod.h; here it
// would serve a single tile.
//
// v8-v15 x of the 8 chunks of a block, 4 columns of 4 tokens each; v0-v3 weights. The sums of token t are in
// v(16 + 2t) and v(17 + 2t), its y in v(24 + 2t) and v(25 + 2t), with 4 rows each. These macros leave v7 to
// the kernel.
#ifndef INGOT_KERNELS_ARM64_GEMM_FOUR_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMM_FOUR_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemm/gemm_pair_neon_dotprod.h"

// Names in addition to those of gemm_pair_neon_dotprod.h. There is only one group: `first` and
// first_scale belong to it.
#define y_token x12             // y of a token and group

// If there are \tokens (3 or 4) tokens, compute y; otherwise do nothing. `blocks` adds blocks_left
// >= 1 blocks, from first and x_block on, to y.
.macro gemm_of_few tokens, blocks, block_bytes
    ldp     n_tokens, stride, [shape, #SHAPE_TOKENS]
    cmp     n_tokens, #\tokens
    b.ne    .Lmany\@
    ldp     pair_rows, n_blocks, [shape, #SHAPE_ROWS]
    cbz     pair_rows, .Lnothing\@
    .cfi_remember_state
    lsl     stride, stride, #2
    open_pair \block_bytes
.Lgroup\@:
    mov     first_scale, weights
    add     first, weights, #QUANTS
.irp y, v24.4s, v25.4s, v26.4s, v27.4s, v28.4s, v29.4s, v30.4s, v31.4s
    movi    \y, #0
.endr
    mov     x_block, tokens
    mov     blocks_left, n_blocks
    cbz     n_blocks, .Lstore\@
    \blocks \tokens
.Lstore\@:
    add     weights, weights, group_bytes
    mov     y_token, out
    add     out, out, #32
    subs    pair_rows, pair_rows, #8
    b.lo    .Lragged\@
    st1     {v24.4s, v25.4s}, [y_token], stride
    st1     {v26.4s, v27.4s}, [y_token], stride
    st1     {v28.4s, v29.4s}, [y_token], stride
.if \tokens == 4
    st1     {v30.4s, v31.4s}, [y_token]
.endif
    b.ne    .Lgroup\@
    b       .Ldone\@
.Lragged\@:
    store_few v24, v25
    store_few v26, v27
    store_few v28, v29
.if \tokens == 4
    store_few v30, v31
.endif
.Ldone\@:
    close_pair
.Lnothing\@:
    ret
    .cfi_restore_state
.Lmany\@:
.endm

// Store the remaining rows (rows mod 8) of a token, and move to the next token.
.macro store_few low, high
    mov     first, y_token
    store_ragged \low, \high, first, pair_rows
    add     y_token, y_token, stride
.endm

// Load the quants of a block of x, and the start values of the sums.
.macro begin_few_block tokens
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [x_block], #64
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [magics]
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [x_block], #64
.if \tokens == 4
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [magics]
.else
    ld1     {v20.4s, v21.4s}, [magics]
.endif
.endm

// Multiply 4 columns of 8 rows by the tokens.
.macro few_dots tokens, low, high, x_chunk
    sdot    v16.4s, \low\().16b, \x_chunk\().4b[0]
    sdot    v17.4s, \high\().16b, \x_chunk\().4b[0]
    sdot    v18.4s, \low\().16b, \x_chunk\().4b[1]
    sdot    v19.4s, \high\().16b, \x_chunk\().4b[1]
    sdot    v20.4s, \low\().16b, \x_chunk\().4b[2]
    sdot    v21.4s, \high\().16b, \x_chunk\().4b[2]
.if \tokens == 4
    sdot    v22.4s, \low\().16b, \x_chunk\().4b[3]
    sdot    v23.4s, \high\().16b, \x_chunk\().4b[3]
.endif
.endm

// Load the scales of x to v0, its sums to v1, the scales of the rows to v8 and v9.
.macro take_few_scales
    ld1     {v0.4s, v1.4s}, [x_block], #32
    ld1     {v2.8h}, [first_scale], block_step
    fcvtl   v8.4s, v2.4h
    fcvtl2  v9.4s, v2.8h
.endm

// y of two tokens += (their sums as floats - offset_0 or offset_1) * the scales v8, v9 * x_0 or
// x_1.
.macro add_few_pair s0, s1, s2, s3, y0, y1, y2, y3, x_0, x_1, offset_0, offset_1
    fmul    v2.4s, v8.4s, \x_0
    fmul    v3.4s, v9.4s, \x_0
    fsub    \s0\().4s, \s0\().4s, \offset_0\().4s
    fsub    \s1\().4s, \s1\().4s, \offset_0\().4s
    fmul    v4.4s, v8.4s, \x_1
    fmul    v5.4s, v9.4s, \x_1
    fsub    \s2\().4s, \s2\().4s, \offset_1\().4s
    fsub    \s3\().4s, \s3\().4s, \offset_1\().4s
    fmla    \y0\().4s, \s0\().4s, v2.4s
    fmla    \y1\().4s, \s1\().4s, v3.4s
    fmla    \y2\().4s, \s2\().4s, v4.4s
    fmla    \y3\().4s, \s3\().4s, v5.4s
.endm

.macro add_few tokens, o0, o1, o2, o3
    add_few_pair v16, v17, v18, v19, v24, v25, v26, v27, v0.s[0], v0.s[1], \o0, \o1
.if \tokens == 4
    add_few_pair v20, v21, v22, v23, v28, v29, v30, v31, v0.s[2], v0.s[3], \o2, \o3
.else
    fmul    v14.4s, v8.4s, v0.s[2]
    fmul    v15.4s, v9.4s, v0.s[2]
    fsub    v20.4s, v20.4s, \o2\().4s
    fsub    v21.4s, v21.4s, \o2\().4s
    fmla    v28.4s, v20.4s, v14.4s
    fmla    v29.4s, v21.4s, v15.4s
.endif
.endm

#endif
