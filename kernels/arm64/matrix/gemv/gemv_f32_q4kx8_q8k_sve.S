// void gemv_f32_q4kx8_q8k_sve(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                             size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_sve.h
// z0-z3 x of 64 columns, z4-z7 weights, z20, z21 low nibbles; z16, z17 sums of its two sub-blocks,
// z22, z23 the sums of x there; z24, z25 integers of the groups over 256 columns, z26, z27 their
// minima
// z30 mask
// Clobbers x0-x17, z0-z7, z16-z31, p0-p2; x19-x22 and d8-d15 are saved.
//
// A load widens the bytes of scales and minima to words. 8 rows x 32 columns take 8 sdot, 8 to part
// the nibbles and 36 instructions in all at 256 bits: 13.4 cycles in the model of Neoverse V1
// (llvm-mca 19); the kernel with the dot product takes 50 and 12, and is taken there.
#include "kernels/arm64/matrix/gemv/gemv_sve.h"

#define at_32 x11
#define at_64 x12
#define at_96 x13
#define first_scale x14
#define second_scale x15
#define x_sums x16

.macro chunk weight, low, x_low, x_high, column
    and     \low\().d, \weight\().d, z30.d
    lsr     \weight\().b, \weight\().b, #4
    sdot    z16.s, \low\().b, \x_low\().b[\column]
    sdot    z17.s, \weight\().b, \x_high\().b[\column]
.endm

// 16 columns of both sub-blocks.
.macro chunks group, x_low, x_high
    ld1b    {z4.b}, all_bytes/z, [\group]
    ld1b    {z5.b}, all_bytes/z, [\group, at_32]
    ld1b    {z6.b}, all_bytes/z, [\group, at_64]
    ld1b    {z7.b}, all_bytes/z, [\group, at_96]
    prfm    pldl1keep, [\group, ahead]
    chunk   z4, z20, \x_low, \x_high, 0
    chunk   z5, z21, \x_low, \x_high, 1
    add     \group, \group, #128
    chunk   z6, z20, \x_low, \x_high, 2
    chunk   z7, z21, \x_low, \x_high, 3
    prfm    pldl1keep, [\group, ahead]
.endm

// Integers and minima of a group += a sub-block. Its minimum's high bits are beside `nibbles` bytes
// from its scale, and `shift` puts them above the low two.
.macro add_sub_block scale, sum, x_sum, total, minimum, nibbles, shift
    ld1b    {z18.s}, all_words/z, [\scale]
    ld1b    {z19.s}, all_words/z, [\scale, \nibbles]
    add     \scale, \scale, #8
    lsr     z4.s, z18.s, #6
    \shift  z19.s, z19.s, #2
    and     z18.s, z18.s, #63
    and     z19.s, z19.s, #0x3c
    mla     \total\().s, all_words/m, \sum\().s, z18.s
    orr     z19.d, z19.d, z4.d
    mla     \minimum\().s, all_words/m, z19.s, \x_sum\().s
.endm

.macro group_part group, scale, total, minimum, nibbles, shift
    dup     z16.s, #0
    dup     z17.s, #0
    chunks  \group, z0, z2
    chunks  \group, z1, z3
    add_sub_block \scale, z16, z22, \total, \minimum, \nibbles, \shift
    add_sub_block \scale, z17, z23, \total, \minimum, \nibbles, \shift
.endm

// 64 columns of both groups.
.macro pair_part nibbles, shift
    ld1rqb  {z0.b}, all_bytes/z, [block]
    ld1rqb  {z1.b}, all_bytes/z, [block, #16]
    ld1rqb  {z2.b}, all_bytes/z, [block, #Q8K_SCALE - Q8K_SUM]
    ld1rqb  {z3.b}, all_bytes/z, [block, #48]
    ld1rsh  {z22.s}, all_words/z, [x_sums]
    ld1rsh  {z18.s}, all_words/z, [x_sums, #2]
    ld1rsh  {z23.s}, all_words/z, [x_sums, #4]
    ld1rsh  {z19.s}, all_words/z, [x_sums, #6]
    add     block, block, #64
    add     x_sums, x_sums, #8
    add     z22.s, z22.s, z18.s
    add     z23.s, z23.s, z19.s
    group_part first, first_scale, z24, z26, \nibbles, \shift
    group_part second, second_scale, z25, z27, \nibbles, \shift
.endm

// y of a group += its integers and minima; z0 is the scale of x. `scale` stands 96 bytes into the
// block, `group` at its end.
.macro finish_group scale, total, minimum, y_group
    sub     \scale, \scale, #Q4K_MINS
    ld1h    {z4.s}, all_words/z, [\scale]
    add     \scale, \scale, #Q4K_DMIN
    ld1h    {z5.s}, all_words/z, [\scale]
    fcvt    z4.s, all_words/m, z4.h
    fcvt    z5.s, all_words/m, z5.h
    scvtf   \total\().s, all_words/m, \total\().s
    scvtf   \minimum\().s, all_words/m, \minimum\().s
    fmul    z4.s, z4.s, z0.s
    fmul    z5.s, z5.s, z0.s
    fmla    \y_group\().s, all_words/m, \total\().s, z4.s
    fmls    \y_group\().s, all_words/m, \minimum\().s, z5.s
.endm

.macro blocks_q4k
    mov     at_32, #32
    mov     at_64, #64
    mov     at_96, #96
    dup     z30.b, #15
.Lblock\@:
    add     first_scale, first, #Q4K_SCALES
    add     second_scale, second, #Q4K_SCALES
    add     first, first, #Q4K_QUANTS
    add     second, second, #Q4K_QUANTS
    add     x_sums, block, #Q8K_SUM
    dup     z24.s, #0
    dup     z25.s, #0
    dup     z26.s, #0
    dup     z27.s, #0
    pair_part at_64, lsl                // sub-blocks 0-3: low nibbles of the minima
    pair_part at_64, lsl
    pair_part at_32, lsr
    pair_part at_32, lsr
    ld1rw   {z0.s}, all_words/z, [block, #Q8K_SCALE - Q8K_SUM]
    add     block, block, #Q8K_BYTES - Q8K_SUM
    finish_group first_scale, z24, z26, z28
    finish_group second_scale, z25, z27, z29
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

func gemv_f32_q4kx8_q8k_sve, sve
    gemv_sve_pairs gemv_f32_q4kx8_q8k_neon_dotprod, blocks_q4k, COLS_K_LOG2, Q4K_BYTES, 64
endfunc gemv_f32_q4kx8_q8k_sve
