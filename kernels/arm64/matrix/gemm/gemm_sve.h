// Shared by the quantized gemms with SVE: the loops around a tile of 8 rows and 8 tokens. Weights
// are prepared as for gemm_neon_dotprod.h: 4 columns of 8 rows are 32 bytes, which fill one vector
// at 256 bits, or the low part of a longer one. At 128 bits a Z register is a V register, and
// these kernels call the NEON kernel; so their rows in kernels.inc require the dot product,
// too.
#ifndef INGOT_KERNELS_ARM64_GEMM_SVE_H
#define INGOT_KERNELS_ARM64_GEMM_SVE_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Registers are as in gemm_neon_dotprod.h, with two exceptions: y_tile is y of the
// tile's first token; token t of the tile has y in z(24 + t) and sums in z(16 + t).
#define x_stride x9             // bytes from 4 tokens of x to the next 4
#define x_tile x19              // x of the tile's tokens at this slice
#define at_32 x14               // offsets from w_block
#define at_64 x15
#define at_96 x16
#define x_second x17            // x of tokens 4 to 7
#define w_step x22
#define y_room x23              // room to save y of the tile, 32 bytes per token

#define FRAME_Y 64
#define Y_BYTES 32

// p0: 32 bytes; p1: 8 words; p2: those of the 8 words that are rows of W.
#define all_bytes p0
#define all_words p1
#define row_words p2

// Load or store y of the existing tokens, by ld1w or st1w with row_words (/z).
.macro move_y move, predicate:vararg
    mov     temp, y_tile
    \move   {z24.s}, \predicate, [temp]
    token_y \move, z25, 1, .Lmoved\@, \predicate
    token_y \move, z26, 2, .Lmoved\@, \predicate
    token_y \move, z27, 3, .Lmoved\@, \predicate
    token_y \move, z28, 4, .Lmoved\@, \predicate
    token_y \move, z29, 5, .Lmoved\@, \predicate
    token_y \move, z30, 6, .Lmoved\@, \predicate
    token_y \move, z31, 7, .Lmoved\@, \predicate
.Lmoved\@:
.endm

.macro token_y move, vector, token, last, predicate:vararg
    cmp     tokens_left, #\token
    b.ls    \last
    add     temp, temp, stride
    \move   {\vector\().s}, \predicate, [temp]
.endm

// Body of a gemm, like gemm_tiles. If at most 4 tokens remain, they also take the place of the
// other 4, whose results are not stored.
.macro gemm_sve_tiles neon_kernel, prepare, multiply, block_bits, x_bytes, slice_blocks, scratch
    cntb    temp
    cmp     temp, #32
    b.lo    \neon_kernel
    ldp     n_tokens, stride, [shape, #SHAPE_TOKENS]
    ldp     rows_left, n_blocks, [shape, #SHAPE_ROWS]
    cbz     rows_left, .Ldone\@
    cbz     n_tokens, .Ldone\@
    open_frame \scratch
    ptrue   all_bytes.b, vl32
    ptrue   all_words.s, vl8
    lsr     n_blocks, n_blocks, #\block_bits
    lsl     stride, stride, #2
    mov     temp, #\x_bytes
    mul     x_stride, n_blocks, temp
.Lrows\@:
    mov     done, #0
    whilelo row_words.s, xzr, rows_left
    and     row_words.b, all_words/z, row_words.b, row_words.b
.Lslice\@:
    mov     slice, #\slice_blocks
    sub     temp, n_blocks, done
    cmp     temp, slice
    csel    slice, temp, slice, lo
    cbz     slice, .Lprepared\@
    \prepare
.Lprepared\@:
    mov     temp, #\x_bytes
    madd    x_tile, done, temp, tokens
    mov     y_tile, out
    mov     tokens_left, n_tokens
.Ltile\@:
    clear_eight z24, z25, z26, z27, z28, z29, z30, z31
    cbz     done, .Lmultiply\@
    move_y  ld1w, row_words/z
.Lmultiply\@:
    cbz     slice, .Lstore\@
    mov     x_block, x_tile
    add     x_second, x_tile, x_stride
    cmp     tokens_left, #4
    csel    x_second, x_second, x_tile, hi
    mov     w_block, quants
    mov     w_scale, factors
    mov     at_32, #32
    mov     at_64, #64
    mov     at_96, #96
    add     y_room, sp, #FRAME_Y
    mov     blocks_left, slice
    \multiply
.Lstore\@:
    move_y  st1w, row_words
    add     x_tile, x_tile, x_stride, lsl #1
    add     y_tile, y_tile, stride, lsl #3
    subs    tokens_left, tokens_left, #8
    b.hi    .Ltile\@
    add     done, done, slice
    cmp     done, n_blocks
    b.lo    .Lslice\@
    add     out, out, #32
    subs    rows_left, rows_left, #8
    b.hi    .Lrows\@
    close_frame \scratch
.Ldone\@:
    ret
.endm

.macro clear_eight a, b, c, d, e, f, g, h
    dup     \a\().s, #0
    dup     \b\().s, #0
    dup     \c\().s, #0
    dup     \d\().s, #0
    dup     \e\().s, #0
    dup     \f\().s, #0
    dup     \g\().s, #0
    dup     \h\().s, #0
.endm

// Set the sums to the vector of start values.
.macro begin_sums_sve vector
    mov     z16.d, \vector\().d
    mov     z17.d, \vector\().d
    mov     z18.d, \vector\().d
    mov     z19.d, \vector\().d
    mov     z20.d, \vector\().d
    mov     z21.d, \vector\().d
    mov     z22.d, \vector\().d
    mov     z23.d, \vector\().d
.endm

// Sums of 4 tokens += products of 4 columns of 8 rows and x.
.macro dot_four weight, x_chunk, a, b, c, d
    sdot    \a\().s, \weight\().b, \x_chunk\().b[0]
    sdot    \b\().s, \weight\().b, \x_chunk\().b[1]
    sdot    \c\().s, \weight\().b, \x_chunk\().b[2]
    sdot    \d\().s, \weight\().b, \x_chunk\().b[3]
.endm

// 4 columns: weights at w_block + place (", offset" or nothing), x at 4 * `column` bytes.
.macro dot_columns weight, x_low, x_high, column, place:vararg
    ld1b    {\weight\().b}, all_bytes/z, [w_block\place]
    ld1rqb  {\x_low\().b}, all_bytes/z, [x_block, #4 * (\column)]
    ld1rqb  {\x_high\().b}, all_bytes/z, [x_second, #4 * (\column)]
    dot_four \weight, \x_low, z16, z17, z18, z19
    dot_four \weight, \x_high, z20, z21, z22, z23
.endm

// 16 columns from `column` on (0 or 16 after x_block), then w_block += step.
.macro dot_16_columns_sve column, step
    dot_columns z8, z0, z4, \column
    dot_columns z9, z1, z5, \column + 4, , at_32
    dot_columns z10, z2, z6, \column + 8, , at_64
    dot_columns z11, z3, z7, \column + 12, , at_96
    add     w_block, w_block, \step
.endm

// x_block and x_second += bytes
.macro move_x step
    add     x_block, x_block, #\step
    add     x_second, x_second, #\step
.endm

// Scale the sums of a block of block_q8x4; x_block already points to the block's end. y += (sums
// as floats - z14) * the scales of the rows z8 * the scales of the tokens. Destroys z0, z1,
// z9-z13.
.macro add_scaled_sve
    ld1rqw  {z0.s}, all_words/z, [x_block, #Q8X4_SCALE - Q8X4_BYTES]
    ld1rqw  {z1.s}, all_words/z, [x_second, #Q8X4_SCALE - Q8X4_BYTES]
    add_scaled_four z0, z16, z17, z18, z19, z24, z25, z26, z27
    add_scaled_four z1, z20, z21, z22, z23, z28, z29, z30, z31
.endm

.macro add_scaled_four own, s0, s1, s2, s3, y0, y1, y2, y3
    fmul    z9.s, z8.s, \own\().s[0]
    fmul    z10.s, z8.s, \own\().s[1]
    fmul    z11.s, z8.s, \own\().s[2]
    fmul    z12.s, z8.s, \own\().s[3]
    fsub    \s0\().s, \s0\().s, z14.s
    fsub    \s1\().s, \s1\().s, z14.s
    fsub    \s2\().s, \s2\().s, z14.s
    fsub    \s3\().s, \s3\().s, z14.s
    fmla    \y0\().s, all_words/m, \s0\().s, z9.s
    fmla    \y1\().s, all_words/m, \s1\().s, z10.s
    fmla    \y2\().s, all_words/m, \s2\().s, z11.s
    fmla    \y3\().s, all_words/m, \s3\().s, z12.s
.endm

// Multiply blocks_left blocks of 32 columns of block_q8x4; w_step is the distance from the 17th
// column of a block to the next block, in bytes. In prepared scales, the magic follows the scales
// of the 8 rows.
.macro multiply_32
    ld1rqw  {z14.s}, all_words/z, [w_scale, #32]
.Lblock\@:
    begin_sums_sve z14
    dot_16_columns_sve 0, #128
    dot_16_columns_sve 16, w_step
    move_x  Q8X4_BYTES
    ld1w    {z8.s}, all_words/z, [w_scale]
    add     w_scale, w_scale, #48
    subs    blocks_left, blocks_left, #1
    add_scaled_sve
    b.ne    .Lblock\@
.endm

// z24-z31 += the sums of a sub-block * the scales of the rows.
.macro add_sub_block_sve
    ld1w    {z12.s}, all_words/z, [w_scale]
    add     w_scale, w_scale, #32
    mla     z24.s, all_words/m, z16.s, z12.s
    mla     z25.s, all_words/m, z17.s, z12.s
    mla     z26.s, all_words/m, z18.s, z12.s
    mla     z27.s, all_words/m, z19.s, z12.s
    mla     z28.s, all_words/m, z20.s, z12.s
    mla     z29.s, all_words/m, z21.s, z12.s
    mla     z30.s, all_words/m, z22.s, z12.s
    mla     z31.s, all_words/m, z23.s, z12.s
.endm

// Save z24-z31 to y_room, and restore them. The registers are saved as bytes, because the offsets
// are in bytes.
.macro keep_y
    move_four st1b, all_bytes, z24, z25, z26, z27
    add     y_room, y_room, #4 * Y_BYTES
    move_four st1b, all_bytes, z28, z29, z30, z31
    sub     y_room, y_room, #4 * Y_BYTES
.endm

.macro take_y
    move_four ld1b, all_bytes/z, z24, z25, z26, z27
    add     y_room, y_room, #4 * Y_BYTES
    move_four ld1b, all_bytes/z, z28, z29, z30, z31
.endm

.macro move_four move, predicate, a, b, c, d
    \move   {\a\().b}, \predicate, [y_room]
    \move   {\b\().b}, \predicate, [y_room, at_32]
    \move   {\c\().b}, \predicate, [y_room, at_64]
    \move   {\d\().b}, \predicate, [y_room, at_96]
.endm

#endif
