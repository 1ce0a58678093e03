// gemv and gemm over rows of f32 or fp16. A dot product has
// sixteen lanes. Four dot products are computed at a time.
//
// A kernel that includes this sets WEIGHT_SHIFT, log2 of a weight's bytes, and defines this macro:
//     load_weights pointer    v4-v7 = the next 16 weights as f32, destroys no other vector.
#ifndef INGOT_KERNELS_ARM64_FLOATS_NEON_H
#define INGOT_KERNELS_ARM64_FLOATS_NEON_H

#include "kernels/arm64/asm.h"

.macro load_f32 pointer
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [\pointer], #64
.endm

.macro load_f16 pointer
    ld1     {v4.8h, v5.8h}, [\pointer], #32
    fcvtl2  v7.4s, v5.8h
    fcvtl   v6.4s, v5.4h
    fcvtl2  v5.4s, v4.8h
    fcvtl   v4.4s, v4.4h
.endm

// a to e += weights in v4-v7 times 16 of x in v0-v3
.macro dot_sixteen a, b, c, e
    fmla    \a\().4s, v4.4s, v0.4s
    fmla    \b\().4s, v5.4s, v1.4s
    fmla    \c\().4s, v6.4s, v2.4s
    fmla    \e\().4s, v7.4s, v3.4s
.endm

.macro clear_dots
.irp dots, v16.4s, v17.4s, v18.4s, v19.4s, v20.4s, v21.4s, v22.4s, v23.4s, v24.4s, v25.4s, \
           v26.4s, v27.4s, v28.4s, v29.4s, v30.4s, v31.4s
    movi    \dots, #0
.endr
.endm

// ---- gemv: four rows of W share the loads of x ------------------------------------------------
//
// void (float *y, const void *w, const float *x, size_t rows, size_t cols, size_t ahead)
// v16-v31 sixteen lanes of four rows, v0-v3 x, v4-v7 weights.
// Clobbers x0, x1, x3, x6-x11, v0-v7, v16-v31.
//
// If the last group has fewer rows, the first row takes the place of missing ones, whose results
// are not stored. Cache lines are prefetched row by row: for 32 columns two lines of a row of f32,
// or one line of a row of fp16.
#define gemv_out x0
#define gemv_row0 x1
#define gemv_vector x2
#define gemv_rows x3
#define gemv_cols x4
#define gemv_ahead x5
#define gemv_column x6
#define gemv_left x7
#define gemv_row_bytes x8
#define gemv_row1 x9
#define gemv_row2 x10
#define gemv_row3 x11

.macro gemv_columns
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [gemv_column], #64
    load_weights gemv_row0
    dot_sixteen v16, v17, v18, v19
    load_weights gemv_row1
    dot_sixteen v20, v21, v22, v23
    load_weights gemv_row2
    dot_sixteen v24, v25, v26, v27
    load_weights gemv_row3
    dot_sixteen v28, v29, v30, v31
.endm

.macro gemv_prefetch
.irp row, gemv_row0, gemv_row1, gemv_row2, gemv_row3
    prfm    pldl1strm, [\row, gemv_ahead]
.endr
.endm

.macro gemv_floats
    cbz     gemv_rows, .Ldone\@
    lsl     gemv_row_bytes, gemv_cols, #WEIGHT_SHIFT
.Lfour_rows\@:
    add     gemv_row1, gemv_row0, gemv_row_bytes
    add     gemv_row2, gemv_row0, gemv_row_bytes, lsl #1
    add     gemv_row3, gemv_row1, gemv_row_bytes, lsl #1
    cmp     gemv_rows, #2
    csel    gemv_row1, gemv_row0, gemv_row1, lo
    csel    gemv_row2, gemv_row0, gemv_row2, ls
    cmp     gemv_rows, #4
    csel    gemv_row3, gemv_row0, gemv_row3, lo
    clear_dots
    mov     gemv_column, gemv_vector
    subs    gemv_left, gemv_cols, #32
    b.lo    .Llast_columns\@
.Lcolumns\@:
    gemv_prefetch
    gemv_columns
.if WEIGHT_SHIFT == 2
    gemv_prefetch
.endif
    subs    gemv_left, gemv_left, #32
    gemv_columns
    b.hs    .Lcolumns\@
.Llast_columns\@:
    tbz     gemv_left, #4, .Lfold\@
    gemv_columns
.Lfold\@:
    fold_four_rows
    mov     gemv_row0, gemv_row3    // the next group starts at the end of the fourth row
    subs    gemv_rows, gemv_rows, #4
    b.lo    .Llast_rows\@
    st1     {v16.4s}, [gemv_out], #16
    b.ne    .Lfour_rows\@
.Llast_rows\@:
    and     gemv_rows, gemv_rows, #3              // rows mod 4 (0 if all groups were whole)
    store_ragged v16, v16, gemv_out, gemv_rows
.Ldone\@:
    ret
.endm

// ---- gemm: four tokens share the loads of a row of W ------------------------------------------
//
// void (float *y, const void *w, const float *x, const struct gemm_shape *shape)
// v16-v31 sixteen lanes of four tokens, v0-v3 x, v4-v7 weights.
// Clobbers x0-x17, v0-v7, v16-v31; 32 bytes of stack.
//
// The loops run over blocks of 16 rows, then groups of four tokens, then rows. So four tokens stay
// in the first-level cache, a block of W in the second-level cache, and W is read from memory once.
// If the last group has fewer tokens, the first token takes the place of missing ones, whose
// results are not stored.
#define gemm_out x0
#define gemm_block x1
#define gemm_vectors x2
#define gemm_rows x3
#define gemm_shape x3
#define gemm_cols x4
#define gemm_vector_bytes x5
#define gemm_vector_stride x6
#define gemm_out_stride x7
#define gemm_left x8
#define gemm_token0 x9
#define gemm_token1 x10
#define gemm_token2 x11
#define gemm_token3 x12
#define gemm_weight x13
#define gemm_out_row x14
#define gemm_out_token x15
#define gemm_block_left x16
#define gemm_block_rows x17
#define gemm_n_tokens x22
#define gemm_tokens_left x21
#define gemm_out_group x20
#define gemm_group x19

#define BLOCK_ROWS 16

.macro gemm_columns
    load_weights gemm_weight
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [gemm_token0], #64
    dot_sixteen v16, v17, v18, v19
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [gemm_token1], #64
    dot_sixteen v20, v21, v22, v23
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [gemm_token2], #64
    dot_sixteen v24, v25, v26, v27
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [gemm_token3], #64
    dot_sixteen v28, v29, v30, v31
.endm

// For each token t that remains, store lane t of v16.
.macro gemm_store
    mov     gemm_out_token, gemm_out_row
    add     gemm_out_row, gemm_out_row, #4
    cmp     gemm_tokens_left, #2
    st1     {v16.s}[0], [gemm_out_token], gemm_out_stride
    b.lo    .Lstored\@
    st1     {v16.s}[1], [gemm_out_token], gemm_out_stride
    b.eq    .Lstored\@
    cmp     gemm_tokens_left, #4
    st1     {v16.s}[2], [gemm_out_token], gemm_out_stride
    b.lo    .Lstored\@
    st1     {v16.s}[3], [gemm_out_token]
.Lstored\@:
.endm

.macro load_shape
    ldp     gemm_out_stride, gemm_vector_stride, [gemm_shape, #SHAPE_Y_STRIDE]
    ldr     gemm_n_tokens, [gemm_shape, #SHAPE_TOKENS]
    ldp     gemm_rows, gemm_cols, [gemm_shape, #SHAPE_ROWS]
    lsl     gemm_out_stride, gemm_out_stride, #2
    lsl     gemm_vector_stride, gemm_vector_stride, #2
.endm

// Take the next block of rows, starting again with the first token.
.macro take_block
    cmp     gemm_rows, #BLOCK_ROWS
    mov     gemm_block_rows, #BLOCK_ROWS
    csel    gemm_block_rows, gemm_rows, gemm_block_rows, lo
    mov     gemm_group, gemm_vectors
    mov     gemm_out_group, gemm_out
    mov     gemm_tokens_left, gemm_n_tokens
.endm

// Take the next group of tokens; the group's first token takes the place of missing ones.
.macro take_tokens
    add     gemm_token1, gemm_group, gemm_vector_stride
    add     gemm_token2, gemm_token1, gemm_vector_stride
    add     gemm_token3, gemm_token2, gemm_vector_stride
    mov     gemm_token0, gemm_group
    add     gemm_group, gemm_token3, gemm_vector_stride
    cmp     gemm_tokens_left, #2
    csel    gemm_token1, gemm_token0, gemm_token1, lo
    csel    gemm_token2, gemm_token0, gemm_token2, ls
    cmp     gemm_tokens_left, #4
    csel    gemm_token3, gemm_token0, gemm_token3, lo
.endm

.macro gemm_floats
    push_pair x19, x20, 32
    save_pair x21, x22, 16
    load_shape
    lsl     gemm_vector_bytes, gemm_cols, #2
    cbz     gemm_n_tokens, .Ldone\@
    cbz     gemm_rows, .Ldone\@
.Lblock\@:
    take_block
.Ltokens\@:
    take_tokens
    mov     gemm_weight, gemm_block
    mov     gemm_out_row, gemm_out_group
    mov     gemm_block_left, gemm_block_rows
.Lrow\@:
    clear_dots
    subs    gemm_left, gemm_cols, #32
    b.lo    .Llast_columns\@
.Lcolumns\@:
    subs    gemm_left, gemm_left, #32
    gemm_columns
    gemm_columns
    b.hs    .Lcolumns\@
.Llast_columns\@:
    tbz     gemm_left, #4, .Lfold\@
    gemm_columns
.Lfold\@:
    fold_four_rows
    gemm_store
    sub     gemm_token0, gemm_token0, gemm_vector_bytes
    sub     gemm_token1, gemm_token1, gemm_vector_bytes
    sub     gemm_token2, gemm_token2, gemm_vector_bytes
    sub     gemm_token3, gemm_token3, gemm_vector_bytes
    subs    gemm_block_left, gemm_block_left, #1
    b.ne    .Lrow\@
    add     gemm_out_group, gemm_out_group, gemm_out_stride, lsl #2
    subs    gemm_tokens_left, gemm_tokens_left, #4
    b.hi    .Ltokens\@
    mov     gemm_block, gemm_weight
    add     gemm_out, gemm_out, gemm_block_rows, lsl #2
    subs    gemm_rows, gemm_rows, gemm_block_rows
    b.ne    .Lblock\@
.Ldone\@:
    restore_pair x21, x22, 16
    pop_pair x19, x20, 32
    ret
.endm

#endif
