// gemv and gemm over rows of f32 or fp16 for SVE of any vector length.
//
// At 512 bits and above, the sixteen lanes of a dot product are one predicated vector; below,
// they are two vectors. At 128 bits they are four vectors, as in NEON, and floats_neon.h computes
// them with four registers per load. Lengths that are not powers of two leave a part of each vector
// unused. Columns are addressed by index, so that the pointers to rows and tokens do not change.
//
// In addition to what floats_neon.h requires, a kernel defines these macros:
//     load_weight z, row, index   z.s = the weights there as f32, under p0.
//     prefetch_weights row, index.
#ifndef INGOT_KERNELS_ARM64_FLOATS_SVE_H
#define INGOT_KERNELS_ARM64_FLOATS_SVE_H

#include "kernels/arm64/matrix/floats_neon.h"

.macro load_weight_f32 z, row, index
    ld1w    {z\z\().s}, p0/z, [\row, \index, lsl #2]
.endm

.macro load_weight_f16 z, row, index
    ld1h    {z\z\().s}, p0/z, [\row, \index, lsl #1]
    fcvt    z\z\().s, p0/m, z\z\().h
.endm

.macro load_vector z, pointer, index
    ld1w    {z\z\().s}, p0/z, [\pointer, \index, lsl #2]
.endm

.macro clear_dots_sve
.irp dots, z16.s, z17.s, z18.s, z19.s, z20.s, z21.s, z22.s, z23.s, z24.s, z25.s, z26.s, z27.s, \
           z28.s, z29.s, z30.s, z31.s
    mov     \dots, #0
.endr
.endm

// Fold a dot product in one vector: lanes 8 to 15 onto 0 to 7, then 4 to 7 onto 0 to 3; destroys
// v4.
.macro fold_one a
    mov     z4.d, z\a\().d
    ext     z4.b, z4.b, z4.b, #32
    fadd    z\a\().s, p0/m, z\a\().s, z4.s
    mov     z4.d, z\a\().d
    ext     z4.b, z4.b, z4.b, #16
    fadd    v\a\().4s, v\a\().4s, v4.4s
.endm

// Fold a dot product in two vectors.
.macro fold_two a, b
    fadd    z\a\().s, p0/m, z\a\().s, z\b\().s
    mov     z4.d, z\a\().d
    ext     z4.b, z4.b, z4.b, #16
    fadd    v\a\().4s, v\a\().4s, v4.4s
.endm

// v16 = four sums, each of four lanes; destroys v4 to v7.
.macro fold_quads a, b, c, e
    zip1    v4.2d, v\a\().2d, v\b\().2d
    zip2    v5.2d, v\a\().2d, v\b\().2d
    zip1    v6.2d, v\c\().2d, v\e\().2d
    zip2    v7.2d, v\c\().2d, v\e\().2d
    fadd    v4.4s, v4.4s, v5.4s
    fadd    v6.4s, v6.4s, v7.4s
    faddp   v16.4s, v4.4s, v6.4s
.endm

// Fold four dot products in one or two vectors each.
.macro fold_four_one a, b, c, e
    fold_one \a
    fold_one \b
    fold_one \c
    fold_one \e
    fold_quads \a, \b, \c, \e
.endm

.macro fold_four_two a, a1, b, b1, c, c1, e, e1
    fold_two \a, \a1
    fold_two \b, \b1
    fold_two \c, \c1
    fold_two \e, \e1
    fold_quads \a, \b, \c, \e
.endm

// ---- gemv -------------------------------------------------------------------------------------
//
// Clobbers x0, x1, x3, x6-x16, p0, z0, z4-z7, z16-z31.

#define gemv_index0 x6          /* column of lane 0 */
#define gemv_index1 x7          /* column of lane 8, if lanes 8 to 15 have a vector of their own */
#define gemv_ahead0 x12
#define gemv_ahead1 x13
#define gemv_ahead2 x14
#define gemv_ahead3 x15
#define vector_words x16

.macro gemv_vector index, a, b, c, e
    load_vector 0, gemv_vector, \index
    load_weight 4, gemv_row0, \index
    load_weight 5, gemv_row1, \index
    load_weight 6, gemv_row2, \index
    load_weight 7, gemv_row3, \index
    fmla    z\a\().s, p0/m, z4.s, z0.s
    fmla    z\b\().s, p0/m, z5.s, z0.s
    fmla    z\c\().s, p0/m, z6.s, z0.s
    fmla    z\e\().s, p0/m, z7.s, z0.s
.endm

// vectors: 1 or 2 for sixteen lanes
.macro gemv_floats_sve vectors
.if \vectors == 1
    ptrue   p0.s, vl16
.else
    ptrue   p0.s, vl8
.endif
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
    add     gemv_ahead0, gemv_row0, gemv_ahead
    add     gemv_ahead1, gemv_row1, gemv_ahead
    add     gemv_ahead2, gemv_row2, gemv_ahead
    add     gemv_ahead3, gemv_row3, gemv_ahead
    clear_dots_sve
    mov     gemv_index0, #0
    mov     gemv_index1, #8
    cbz     gemv_cols, .Lfold\@
.Lcolumns\@:
    prefetch_weights gemv_ahead0, gemv_index0
    prefetch_weights gemv_ahead1, gemv_index0
    prefetch_weights gemv_ahead2, gemv_index0
    prefetch_weights gemv_ahead3, gemv_index0
.if \vectors == 1
    gemv_vector gemv_index0, 16, 17, 18, 19
.else
    gemv_vector gemv_index0, 16, 18, 20, 22
    gemv_vector gemv_index1, 17, 19, 21, 23
    add     gemv_index1, gemv_index1, #16
.endif
    add     gemv_index0, gemv_index0, #16
    cmp     gemv_index0, gemv_cols
    b.lo    .Lcolumns\@
.Lfold\@:
.if \vectors == 1
    fold_four_one 16, 17, 18, 19
.else
    fold_four_two 16, 17, 18, 19, 20, 21, 22, 23
.endif
    add     gemv_row0, gemv_row3, gemv_row_bytes    // after a whole group this is the next row
    subs    gemv_rows, gemv_rows, #4
    b.lo    .Llast_rows\@
    st1     {v16.4s}, [gemv_out], #16
    b.ne    .Lfour_rows\@
.Llast_rows\@:
    and     gemv_rows, gemv_rows, #3
    store_ragged v16, v16, gemv_out, gemv_rows
.Ldone\@:
    ret
.endm

// The body of a kernel: it selects the code for the vector length.
.macro gemv_floats_any
    cntw    vector_words
    cmp     vector_words, #8
    b.lo    .Lshort_vectors\@
    cmp     vector_words, #16
    b.lo    .Ltwo_vectors\@
    gemv_floats_sve 1
.Ltwo_vectors\@:
    gemv_floats_sve 2
.Lshort_vectors\@:
    gemv_floats
.endm

// ---- gemm -------------------------------------------------------------------------------------
//
// If a row takes one vector, a tile has four tokens and four rows; if it takes two, four tokens
// and two rows. Blocks are as in floats_neon.h.
// Clobbers x0-x17, p0, z0-z7, z16-z31; 80 bytes of stack.

#define gemm_row0 x5
#define gemm_row1 x8
#define gemm_row2 x13
#define gemm_row3 x23
#define gemm_index0 x24
#define gemm_index1 x25
#define gemm_row_bytes x26

.macro gemm_row a, b, c, e, weight
    fmla    z\a\().s, p0/m, z\weight\().s, z4.s
    fmla    z\b\().s, p0/m, z\weight\().s, z5.s
    fmla    z\c\().s, p0/m, z\weight\().s, z6.s
    fmla    z\e\().s, p0/m, z\weight\().s, z7.s
.endm

.macro gemm_tokens index
    load_vector 4, gemm_token0, \index
    load_vector 5, gemm_token1, \index
    load_vector 6, gemm_token2, \index
    load_vector 7, gemm_token3, \index
.endm

.macro gemm_two_rows index, a, b, c, e, a1, b1, c1, e1
    load_weight 0, gemm_row0, \index
    load_weight 1, gemm_row1, \index
    gemm_tokens \index
    gemm_row \a, \b, \c, \e, 0
    gemm_row \a1, \b1, \c1, \e1, 1
.endm

.macro gemm_four_rows index
    load_weight 0, gemm_row0, \index
    load_weight 1, gemm_row1, \index
    load_weight 2, gemm_row2, \index
    load_weight 3, gemm_row3, \index
    gemm_tokens \index
    gemm_row 16, 17, 18, 19, 0
    gemm_row 20, 21, 22, 23, 1
    gemm_row 24, 25, 26, 27, 2
    gemm_row 28, 29, 30, 31, 3
.endm

// Store one row's sums; go to `last` after the block's last row.
.macro gemm_row_done last
    gemm_store
    subs    gemm_block_left, gemm_block_left, #1
    b.eq    \last
.endm

.macro gemm_floats_sve vectors
    push_pair x19, x20, 64
    save_pair x21, x22, 16
    save_pair x23, x24, 32
    save_pair x25, x26, 48
    load_shape
    lsl     gemm_row_bytes, gemm_cols, #WEIGHT_SHIFT
.if \vectors == 1
    ptrue   p0.s, vl16
.else
    ptrue   p0.s, vl8
.endif
    cbz     gemm_n_tokens, .Ldone\@
    cbz     gemm_rows, .Ldone\@
.Lblock\@:
    take_block
.Ltokens\@:
    take_tokens
    mov     gemm_row0, gemm_block
    mov     gemm_out_row, gemm_out_group
    mov     gemm_block_left, gemm_block_rows
.Lrows\@:
    add     gemm_row1, gemm_row0, gemm_row_bytes
    cmp     gemm_block_left, #2
    csel    gemm_row1, gemm_row0, gemm_row1, lo
.if \vectors == 1
    add     gemm_row2, gemm_row0, gemm_row_bytes, lsl #1
    csel    gemm_row2, gemm_row0, gemm_row2, ls
    add     gemm_row3, gemm_row2, gemm_row_bytes
    cmp     gemm_block_left, #4
    csel    gemm_row3, gemm_row0, gemm_row3, lo
.endif
    clear_dots_sve
    mov     gemm_index0, #0
    mov     gemm_index1, #8
    cbz     gemm_cols, .Lfold\@
.Lcolumns\@:
.if \vectors == 1
    gemm_four_rows gemm_index0
.else
    gemm_two_rows gemm_index0, 16, 18, 20, 22, 24, 26, 28, 30
    gemm_two_rows gemm_index1, 17, 19, 21, 23, 25, 27, 29, 31
    add     gemm_index1, gemm_index1, #16
.endif
    add     gemm_index0, gemm_index0, #16
    cmp     gemm_index0, gemm_cols
    b.lo    .Lcolumns\@
.Lfold\@:
.if \vectors == 1
    fold_four_one 16, 17, 18, 19
    gemm_row_done .Lblock_done\@
    fold_four_one 20, 21, 22, 23
    gemm_row_done .Lblock_done\@
    fold_four_one 24, 25, 26, 27
    gemm_row_done .Lblock_done\@
    fold_four_one 28, 29, 30, 31
    gemm_row_done .Lblock_done\@
    add     gemm_row0, gemm_row3, gemm_row_bytes
.else
    fold_four_two 16, 17, 18, 19, 20, 21, 22, 23
    gemm_row_done .Lblock_done\@
    fold_four_two 24, 25, 26, 27, 28, 29, 30, 31
    gemm_row_done .Lblock_done\@
    add     gemm_row0, gemm_row1, gemm_row_bytes
.endif
    b       .Lrows\@
.Lblock_done\@:
    add     gemm_out_group, gemm_out_group, gemm_out_stride, lsl #2
    subs    gemm_tokens_left, gemm_tokens_left, #4
    b.hi    .Ltokens\@
    madd    gemm_block, gemm_block_rows, gemm_row_bytes, gemm_block
    add     gemm_out, gemm_out, gemm_block_rows, lsl #2
    subs    gemm_rows, gemm_rows, gemm_block_rows
    b.ne    .Lblock\@
.Ldone\@:
    restore_pair x21, x22, 16
    restore_pair x23, x24, 32
    restore_pair x25, x26, 48
    pop_pair x19, x20, 64
    ret
.endm

.macro gemm_floats_any
    cntw    vector_words
    cmp     vector_words, #8
    b.lo    .Lshort_vectors\@
    cmp     vector_words, #16
    b.lo    .Ltwo_vectors\@
    gemm_floats_sve 1
.Ltwo_vectors\@:
    gemm_floats_sve 2
.Lshort_vectors\@:
    gemm_floats
.endm

#endif
