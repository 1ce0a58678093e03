// void gemv_f32_q4x8_q8_sve(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                           size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_sve.h
// z0, z1 x of 32 columns, z2, z3 its scale and sum; z8-z15 weights of the two groups, z4-z7 their
// low nibbles; z16-z19 sums; z24 mask, z25 MAGIC
// Clobbers x0-x17, z0-z7, z16-z31, the high parts of z8-z15, p0-p2; x19-x22 and d8-d15 are saved.
//
// As the NEON kernel; low and high nibbles collect apart, for four independent chains. 8 rows x
// 32 columns take 35 instructions at 256 bits: 12.7 cycles in the model of Neoverse V1, 11 bytes a
// cycle (llvm-mca 19); the kernel with the dot product takes 48 and 10.9, and is taken there.
#include "kernels/arm64/matrix/gemv/gemv_sve.h"

#define at_16 x11               // of the first 4 columns, and on
#define at_48 x12
#define at_80 x13
#define at_112 x14

.macro chunk weight, low, sum_low, sum_high, column
    and     \low\().d, \weight\().d, z24.d
    lsr     \weight\().b, \weight\().b, #4
    sdot    \sum_low\().s, \low\().b, z0.b[\column]
    sdot    \sum_high\().s, \weight\().b, z1.b[\column]
.endm

.macro group_sums group, w0, w1, w2, w3, low0, low1, sum_low, sum_high
    ld1b    {\w0\().b}, all_bytes/z, [\group, at_16]
    ld1b    {\w1\().b}, all_bytes/z, [\group, at_48]
    ld1b    {\w2\().b}, all_bytes/z, [\group, at_80]
    ld1b    {\w3\().b}, all_bytes/z, [\group, at_112]
    mov     \sum_low\().d, z25.d
    dup     \sum_high\().s, #0
    prfm    pldl1keep, [\group, ahead]
    chunk   \w0, \low0, \sum_low, \sum_high, 0
    chunk   \w1, \low1, \sum_low, \sum_high, 1
    chunk   \w2, \low0, \sum_low, \sum_high, 2
    chunk   \w3, \low1, \sum_low, \sum_high, 3
.endm

// y += (sums as a float - z3) times the scales of the group by that of x; on to the next block.
.macro add_group group, sum_low, sum_high, y_group
    ld1h    {z20.s}, all_words/z, [\group]
    add     \sum_low\().s, \sum_low\().s, \sum_high\().s
    add     \group, \group, #Q4X8_BYTES
    fcvt    z20.s, all_words/m, z20.h
    prfm    pldl1keep, [\group, ahead]
    fsub    \sum_low\().s, \sum_low\().s, z3.s
    fmul    z20.s, z20.s, z2.s
    fmla    \y_group\().s, all_words/m, \sum_low\().s, z20.s
.endm

.macro blocks_q4
    mov     at_16, #16
    mov     at_48, #48
    mov     at_80, #80
    mov     at_112, #112
    mov_word seed_word, MAGIC
    dup     z24.b, #15
    dup     z25.s, seed_word
.Lblock\@:
    ld1rqb  {z0.b}, all_bytes/z, [block]
    ld1rqb  {z1.b}, all_bytes/z, [block, #16]
    ld1rw   {z2.s}, all_words/z, [block, #Q8_SCALE]
    ld1rw   {z3.s}, all_words/z, [block, #Q8_SUM]
    group_sums first, z8, z9, z10, z11, z4, z5, z16, z17
    group_sums second, z12, z13, z14, z15, z6, z7, z18, z19
    lsl     z3.s, z3.s, #3
    add     block, block, #Q8_BYTES
    add     z3.s, z3.s, z25.s
    subs    blocks_left, blocks_left, #1
    add_group first, z16, z17, z28
    add_group second, z18, z19, z29
    b.ne    .Lblock\@
.endm

func gemv_f32_q4x8_q8_sve, sve
    gemv_sve_pairs gemv_f32_q4x8_q8_neon_dotprod, blocks_q4, COLS_LOG2, Q4X8_BYTES, 64
endfunc gemv_f32_q4x8_q8_sve
