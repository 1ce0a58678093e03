// void gemv_f32_q6kx8_q8k_sve(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                             size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_sve.h
// z0-z3 x of 16 columns each, 32 apart, z20-z23 -32 times its sums; z4, z5 low bits of the first
// two of these sub-blocks and of the others, z6 high bits of all; z16-z19 sums; z24, z25 integers
// of the groups over 256 columns; z26, z27, z30 masks
// Clobbers x0-x17, z0-z7, z16-z31, p0-p2; x19-x22 and d8-d15 are saved.
//
// Weights stay unsigned: the sums begin at -32 sum(x). A load widens the scales. 8 rows x 32
// columns take 8 sdot, 30 to assemble the weights and 57 instructions in all at 256 bits: 22 cycles
// in the model of Neoverse V1 (llvm-mca 19); the kernel with the dot product takes 84 and 23.
#include "kernels/arm64/matrix/gemv/gemv_sve.h"

#define at_32 x11
#define at_64 x12
#define at_96 x13
#define first_scale x14
#define second_scale x15
#define first_high x16
#define second_high x17
#define first_low x19           // of the third and fourth sub-block
#define second_low x20
#define x_at x21
#define parts_left x22

// 4 columns of four sub-blocks; `place` is an offset (", register") or nothing.
.macro columns group, low, high, column, place:vararg
    ld1b    {z4.b}, all_bytes/z, [\group\place]
    ld1b    {z6.b}, all_bytes/z, [\high\place]
    ld1b    {z5.b}, all_bytes/z, [\low\place]
    lsl     z31.b, z6.b, #4
    and     z7.d, z4.d, z30.d
    and     z31.d, z31.d, z26.d
    lsr     z4.b, z4.b, #4
    orr     z7.d, z7.d, z31.d
    lsl     z31.b, z6.b, #2
    sdot    z16.s, z7.b, z0.b[\column]
    and     z31.d, z31.d, z26.d
    and     z7.d, z5.d, z30.d
    orr     z4.d, z4.d, z31.d
    and     z31.d, z6.d, z26.d
    sdot    z17.s, z4.b, z1.b[\column]
    lsr     z6.b, z6.b, #2
    orr     z7.d, z7.d, z31.d
    and     z6.d, z6.d, z26.d
    lsr     z5.b, z5.b, #4
    sdot    z18.s, z7.b, z2.b[\column]
    orr     z5.d, z5.d, z6.d
    sdot    z19.s, z5.b, z3.b[\column]
.endm

// Integers of a group += a sub-block; on to the scales of the next but one.
.macro add_sub_block scale, total, sum
    ld1sb   {z7.s}, all_words/z, [\scale]
    add     \scale, \scale, #16
    mla     \total\().s, all_words/m, \sum\().s, z7.s
.endm

// Four sub-blocks of a group, then the scales of those 16 columns on.
.macro group_part group, low, high, scale, total
    mov     z16.d, z20.d
    mov     z17.d, z21.d
    mov     z18.d, z22.d
    mov     z19.d, z23.d
    columns \group, \low, \high, 0
    prfm    pldl1keep, [\group, ahead]
    columns \group, \low, \high, 1, , at_32
    prfm    pldl1keep, [\low, ahead]
    columns \group, \low, \high, 2, , at_64
    prfm    pldl1keep, [\high, ahead]
    columns \group, \low, \high, 3, , at_96
    add     \group, \group, #128
    add     \low, \low, #128
    add     \high, \high, #128
    add_sub_block \scale, \total, z16
    add_sub_block \scale, \total, z17
    add_sub_block \scale, \total, z18
    add_sub_block \scale, \total, z19
.endm

// -32 times the sum of x of a sub-block.
.macro load_bias vector, at
    ld1rsh  {\vector\().s}, all_words/z, [block, #\at]
    mul     \vector\().s, \vector\().s, #-32
.endm

// 16 columns of each of four sub-blocks, of both groups; `odd` is 1 for the second 16 of 32.
.macro pair_part odd
    ld1rqb  {z0.b}, all_bytes/z, [x_at, #16 * \odd]
    ld1rqb  {z1.b}, all_bytes/z, [x_at, #32 + 16 * \odd]
    ld1rqb  {z2.b}, all_bytes/z, [x_at, #64 + 16 * \odd]
    ld1rqb  {z3.b}, all_bytes/z, [x_at, #96 + 16 * \odd]
    load_bias z20, 2 * \odd
    load_bias z21, 4 + 2 * \odd
    load_bias z22, 8 + 2 * \odd
    load_bias z23, 12 + 2 * \odd
    group_part first, first_low, first_high, first_scale, z24
    group_part second, second_low, second_high, second_scale, z25
.endm

// y of a group += its integers; z0 is the scale of x. `group` is where the high bits begin.
.macro finish_group group, total, y_group
    sub     \group, \group, #Q6K_HIGH
    ld1h    {z4.s}, all_words/z, [\group]
    scvtf   \total\().s, all_words/m, \total\().s
    fcvt    z4.s, all_words/m, z4.h
    add     \group, \group, #Q6K_BYTES
    fmul    z4.s, z4.s, z0.s
    fmla    \y_group\().s, all_words/m, \total\().s, z4.s
.endm

.macro blocks_q6k
    mov     at_32, #32
    mov     at_64, #64
    mov     at_96, #96
    dup     z26.b, #0x30
    dup     z30.b, #15
.Lblock\@:
    add     first_scale, first, #Q6K_SCALES
    add     second_scale, second, #Q6K_SCALES
    add     first, first, #Q6K_LOW
    add     second, second, #Q6K_LOW
    add     first_high, first, #Q6K_HIGH - Q6K_LOW
    add     second_high, second, #Q6K_HIGH - Q6K_LOW
    mov     x_at, block
    add     block, block, #Q8K_SUM          // its sums
    dup     z24.s, #0
    dup     z25.s, #0
    mov     parts_left, #2
.Lhalf\@:
    add     first_low, first, #256
    add     second_low, second, #256
    pair_part 0
    sub     first_scale, first_scale, #64 - 8
    sub     second_scale, second_scale, #64 - 8
    pair_part 1
    sub     first_scale, first_scale, #8
    sub     second_scale, second_scale, #8
    mov     first, first_low            // 512 bytes on from where they were
    mov     second, second_low
    add     x_at, x_at, #128
    add     block, block, #16
    subs    parts_left, parts_left, #1
    b.ne    .Lhalf\@
    ld1rw   {z0.s}, all_words/z, [block]
    add     block, block, #16
    finish_group first, z24, z28
    finish_group second, z25, z29
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

func gemv_f32_q6kx8_q8k_sve, sve
    gemv_sve_pairs gemv_f32_q6kx8_q8k_neon_dotprod, blocks_q6k, COLS_K_LOG2, Q6K_BYTES
endfunc gemv_f32_q6kx8_q8k_sve
