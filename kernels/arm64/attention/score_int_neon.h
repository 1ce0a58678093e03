// The loops of score_f32_q4. A kernel includes attention_int_neon_dotprod.h or
// attention_int_neon.h before this file; the macros of that header compute the sums.
//
// x0 s; x1 q; x2 scales; x3 n_q; x4 n; x5 blocks of 32 dimensions; x6 keys; x7 bytes of a query;
// x14 scale, x15 score of a strip, x16 positions done, x17 blocks left; the rest as in that
// header.
//
// Takes strips of 16 positions, for four queries at a time, then for two, then for one. Between
// blocks, the sums are kept in s.
#ifndef INGOT_KERNELS_ARM64_SCORE_INT_NEON_H
#define INGOT_KERNELS_ARM64_SCORE_INT_NEON_H

#define scores x0
#define queries x1
#define scales x2
#define queries_left x3
#define length x4
#define n_blocks x5
#define keys x6
#define query_bytes x7
#define scale_at x14
#define score_at x15
#define done x16
#define blocks_left x17
#define word w8
#define place x8 /* shares a register with group_at */

.macro clear_row row
    add     place, score_at, #\row * SCORE_ROW_BYTES
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [place]
.endm

// s = fma(sum * scale, q.d, s); the scales are in v4-v7
.macro add_row row, block, a, b, c, e
    ldr     s14, [\block], #(Q8_BYTES - Q8_SCALE)
    add     place, score_at, #\row * SCORE_ROW_BYTES
    ld1     {v9.4s, v10.4s, v11.4s, v12.4s}, [place]
    float_sums \a, \b, \c, \e
    fmul    \a\().4s, \a\().4s, v4.4s
    fmul    \b\().4s, \b\().4s, v5.4s
    fmul    \c\().4s, \c\().4s, v6.4s
    fmul    \e\().4s, \e\().4s, v7.4s
    fmla    v9.4s, \a\().4s, factor.s[0]
    fmla    v10.4s, \b\().4s, factor.s[0]
    fmla    v11.4s, \c\().4s, factor.s[0]
    fmla    v12.4s, \e\().4s, factor.s[0]
    st1     {v9.4s, v10.4s, v11.4s, v12.4s}, [place]
.endm

.macro score_rows rows
    mov     done, #0
.Lstrip\@:
    lead_blocks \rows, queries, query_bytes
    add     scale_at, scales, done, lsl #1
    add     score_at, scores, done, lsl #2
    movi    v0.4s, #0
    movi    v1.4s, #0
    movi    v2.4s, #0
    movi    v3.4s, #0
    clear_row 0
.if \rows > 1
    clear_row 1
.endif
.if \rows > 2
    clear_row 2
    clear_row 3
.endif
    subs    blocks_left, n_blocks, #1
    b.lo    .Lscored\@
.Lblock\@:
    sub     group_at, n_blocks, blocks_left
    sub     group_at, group_at, #1
    add     group_at, keys, group_at, lsl #10   // 8 groups of 128 bytes
    add     group_at, group_at, done, lsl #1
    sum_groups 4, \rows
    ld1     {v4.8h, v5.8h}, [scale_at], group_stride
    shll2   v7.4s, v5.8h, #16
    shll    v6.4s, v5.4h, #16
    shll2   v5.4s, v4.8h, #16
    shll    v4.4s, v4.4h, #16
    add_row 0, block0, v16, v17, v18, v19
.if \rows > 1
    add_row 1, block1, v20, v21, v22, v23
.endif
.if \rows > 2
    add_row 2, block2, v24, v25, v26, v27
    add_row 3, block3, v28, v29, v30, v31
.endif
    subs    blocks_left, blocks_left, #1
    b.hs    .Lblock\@
.Lscored\@:
    add     done, done, #16
    cmp     done, length
    b.ne    .Lstrip\@
    add     scores, scores, #\rows * SCORE_ROW_BYTES
.rept \rows
    add     queries, queries, query_bytes
.endr
    subs    queries_left, queries_left, #\rows
.endm

.macro score_int
    cbz     queries_left, .Lend\@
    cbz     length, .Lend\@
    save_vectors
    push_pair x23, x24, 16
    begin_int 4, word
    mov     group_stride, #2 * KV_TILE
    lsr     n_blocks, n_blocks, #5
    add     keys, scales, n_blocks, lsl #7
    add     query_bytes, n_blocks, n_blocks, lsl #2
    lsl     query_bytes, query_bytes, #3
.Lfour\@:
    cmp     queries_left, #4
    b.lo    .Ltwo\@
    score_rows 4
    b.ne    .Lfour\@
    b       .Lrestore\@
.Ltwo\@:
    tbz     queries_left, #1, .Lone\@
    score_rows 2
    b.eq    .Lrestore\@
.Lone\@:
    score_rows 1
.Lrestore\@:
    pop_pair x23, x24, 16
    restore_vectors
.Lend\@:
    ret
.endm

#endif
