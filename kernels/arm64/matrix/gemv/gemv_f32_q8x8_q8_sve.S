// void gemv_f32_q8x8_q8_sve(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                           size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_sve.h
// z0, z1 x of 32 columns, z2 its scale; z4-z7, z8-z11 weights; z16-z19 sums; z25 MAGIC
// Clobbers x0-x17, z0-z7, z16-z31, the high parts of z8-z15, p0-p2; x19-x22 and d8-d15 are saved.
//
// As the NEON kernel; the halves of a block collect apart, for four independent chains. 8 rows x
// 32 columns take 33 instructions at 256 bits: 8.2 cycles in the model of Neoverse V1, 33 bytes a
// cycle (llvm-mca 19); the kernel with the dot product takes 36 and 8.4.
#include "kernels/arm64/matrix/gemv/gemv_sve.h"

#define at_16 x11               // of the first 4 columns, and on
#define at_48 x12
#define at_80 x13
#define at_112 x14

// 16 columns; `group` moves on by step.
.macro half group, x_half, sum, w0, w1, w2, w3, step
    ld1b    {\w0\().b}, all_bytes/z, [\group, at_16]
    ld1b    {\w1\().b}, all_bytes/z, [\group, at_48]
    ld1b    {\w2\().b}, all_bytes/z, [\group, at_80]
    ld1b    {\w3\().b}, all_bytes/z, [\group, at_112]
    prfm    pldl1keep, [\group, ahead]
    sdot    \sum\().s, \w0\().b, \x_half\().b[0]
    sdot    \sum\().s, \w1\().b, \x_half\().b[1]
    add     \group, \group, #\step
    sdot    \sum\().s, \w2\().b, \x_half\().b[2]
    sdot    \sum\().s, \w3\().b, \x_half\().b[3]
    prfm    pldl1keep, [\group, ahead]
.endm

// y += (sums as a float - MAGIC) times the scales of the group by that of x.
.macro add_group scales, sum_low, sum_high, y_group
    add     \sum_low\().s, \sum_low\().s, \sum_high\().s
    fcvt    \scales\().s, all_words/m, \scales\().h
    fsub    \sum_low\().s, \sum_low\().s, z25.s
    fmul    \scales\().s, \scales\().s, z2.s
    fmla    \y_group\().s, all_words/m, \sum_low\().s, \scales\().s
.endm

.macro blocks_q8
    mov     at_16, #16
    mov     at_48, #48
    mov     at_80, #80
    mov     at_112, #112
    mov_word seed_word, MAGIC
    dup     z25.s, seed_word
.Lblock\@:
    ld1rqb  {z0.b}, all_bytes/z, [block]
    ld1rqb  {z1.b}, all_bytes/z, [block, #16]
    ld1rw   {z2.s}, all_words/z, [block, #Q8_SCALE]
    ld1h    {z20.s}, all_words/z, [first]
    ld1h    {z21.s}, all_words/z, [second]
    mov     z16.d, z25.d
    dup     z17.s, #0
    mov     z18.d, z25.d
    dup     z19.s, #0
    half    first, z0, z16, z4, z5, z6, z7, 128
    half    second, z0, z18, z8, z9, z10, z11, 128
    half    first, z1, z17, z4, z5, z6, z7, Q8X8_BYTES - 128
    half    second, z1, z19, z8, z9, z10, z11, Q8X8_BYTES - 128
    add     block, block, #Q8_BYTES
    subs    blocks_left, blocks_left, #1
    add_group z20, z16, z17, z28
    add_group z21, z18, z19, z29
    b.ne    .Lblock\@
.endm

func gemv_f32_q8x8_q8_sve, sve
    gemv_sve_pairs gemv_f32_q8x8_q8_neon_dotprod, blocks_q8, COLS_LOG2, Q8X8_BYTES
endfunc gemv_f32_q8x8_q8_sve
