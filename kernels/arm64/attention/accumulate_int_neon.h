// accumulate_f32_q8_q8 and accumulate_f32_q4_q8 take strips of 16 dimensions, for \most rows (4 or
// 2) at a time, then for two, then for one; one loop takes both halves of the tile. The macros of
// attention_int_neon_dotprod.h or attention_int_neon.h, included before, compute the sums.
//
// x0 o, from a block's first dimension on; x1 s; x2 w, of a block; x3 v, of a block; x4 rows left;
// x5 d, then bytes of a row of o; x6 bytes of a row of w; x7 and x14 point to the output of a
// strip; x15 dimensions of a block, x16 dimensions left of it, x17 values of the strip; x19-x22 o,
// w, v and dimensions left of a group of rows, x24 halves left of the tile.
#ifndef INGOT_KERNELS_ARM64_ACCUMULATE_INT_NEON_H
#define INGOT_KERNELS_ARM64_ACCUMULATE_INT_NEON_H

#define outs x0
#define weights_of x1
#define blocks x2
#define values x3
#define rows_left x4
#define row_bytes x5
#define block_row_bytes x6
#define out_at x7
#define place x14
#define width x15
#define strip_left x16
#define strip_at x17
#define outs_of x19
#define blocks_at x20
#define values_at x21
#define dimensions_left x22
#define halves_left x24
#define word w8

.macro load_out row
.if \row == 0
    mov     place, out_at
.else
    add     place, place, row_bytes
.endif
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [place]
.endm

// o = fma(sum, w.d, o). In the tile's first half (the flags say equal), o is multiplied by the
// row's factor first.
.macro add_row row, block, a, b, c, e
    load_out \row
    b.ne    .Lsecond\@
    ldr     s15, [weights_of, #\row * SCORE_ROW_BYTES + SCORE_ROW_FACTOR]
    fmul    v4.4s, v4.4s, first_factor.s[0]
    fmul    v5.4s, v5.4s, first_factor.s[0]
    fmul    v6.4s, v6.4s, first_factor.s[0]
    fmul    v7.4s, v7.4s, first_factor.s[0]
.Lsecond\@:
    ldr     s14, [\block], #(Q8_BYTES - Q8_SCALE)
    float_sums \a, \b, \c, \e
    fmla    v4.4s, \a\().4s, factor.s[0]
    fmla    v5.4s, \b\().4s, factor.s[0]
    fmla    v6.4s, \c\().4s, factor.s[0]
    fmla    v7.4s, \e\().4s, factor.s[0]
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [place]
.endm

.macro add_halves bits, rows
    mov     halves_left, #2
.Lhalf\@:
    sum_groups \bits, \rows
    cmp     halves_left, #2
    add_row 0, block0, v16, v17, v18, v19
.if \rows > 1
    add_row 1, block1, v20, v21, v22, v23
.endif
.if \rows > 2
    add_row 2, block2, v24, v25, v26, v27
    add_row 3, block3, v28, v29, v30, v31
.endif
    subs    halves_left, halves_left, #1
    b.ne    .Lhalf\@
.endm

.macro accumulate_rows bits, rows
    mov     outs_of, outs
    mov     blocks_at, blocks
    mov     values_at, values
    mov     dimensions_left, row_bytes
.Lblock\@:
    mov     strip_left, width
    mov     strip_at, values_at
.Lstrip\@:
    mov     group_at, strip_at
    mov     out_at, outs_of
    lead_blocks \rows, blocks_at, block_row_bytes
    add_halves \bits, \rows
    add     outs_of, outs_of, #64
    add     strip_at, strip_at, #8 * \bits
    subs    strip_left, strip_left, #16
    b.ne    .Lstrip\@
    add     blocks_at, blocks_at, #2 * Q8_BYTES
    add     values_at, values_at, width, lsl #(4 + \bits / 4)
    subs    dimensions_left, dimensions_left, width, lsl #2
    b.ne    .Lblock\@
.rept \rows
    add     outs, outs, row_bytes
    add     blocks, blocks, block_row_bytes
.endr
    add     weights_of, weights_of, #\rows * SCORE_ROW_BYTES
    subs    rows_left, rows_left, #\rows
.endm

// \most = 4 or 2, the number of rows taken at a time
.macro accumulate_int bits, most
    cbz     rows_left, .Ldone\@
    cbz     row_bytes, .Ldone\@
    save_vectors
    push_pair x19, x20, 48
    save_pair x21, x22, 16
    save_pair x23, x24, 32
    begin_int \bits, word
    mov     width, #64
    tst     row_bytes, #32
    mov     place, #32
    csel    width, width, place, eq
    udiv    block_row_bytes, row_bytes, width
    add     block_row_bytes, block_row_bytes, block_row_bytes, lsl #2
    lsl     block_row_bytes, block_row_bytes, #4
    lsl     group_stride, width, #(\bits / 4)
    lsl     row_bytes, row_bytes, #2
.Lmany\@:
    cmp     rows_left, #\most
    b.lo    .Lfew\@
    accumulate_rows \bits, \most
    b.ne    .Lmany\@
    b       .Lend\@
.Lfew\@:
.if \most == 4
    tbz     rows_left, #1, .Lone\@
    accumulate_rows \bits, 2
    b.eq    .Lend\@
.endif
.Lone\@:
    accumulate_rows \bits, 1
.Lend\@:
    restore_pair x23, x24, 32
    restore_pair x21, x22, 16
    pop_pair x19, x20, 48
    restore_vectors
.Ldone\@:
    ret
.endm

#endif
