/* Sums of 32 products of int8 without vectors, for the lanes in two words of 64 bits and up to three rows:
 * the core of score and accumulate over integers. A lane is a position of keys or a dimension of values. A
 * group has four numbers of each lane: 16 bits of a word if numbers have four bits, else 32.
 *
 * The numbers of a word are made unsigned; then one multiplication multiplies one number of each lane by a
 * number of a row. The fields of a sum carry into each other, but can be separated exactly at the end:
 * each field is then at most 32 * 127 * 127 (with four bits 32 * 8 * 127). A sum starts at -8 or -128
 * times the sum of the block, which removes the bias of the unsigned numbers, plus half a field, so that
 * no field is negative. A group has 32 numbers of four bits (16 of eight) and takes 20 instructions for
 * all rows, and 21 more for each row. */
#ifndef INGOT_KERNELS_RISCV64_ATTENTION_INT_RV64GC_H
#define INGOT_KERNELS_RISCV64_ATTENTION_INT_RV64GC_H

#include "kernels/riscv64/asm.h"

#define words0 t0
#define words1 t1
#define number0 t2
#define number1 t3
#define element t4
#define product t5
#define mask t6         /* a number in each field */
#define temp t0         /* this and the next three are used between sums */
#define half_fields t1
#define lane t2
#define out_row t3
#define block0 s8       /* blocks of the rows, pointing to the next four numbers */
#define block1 s9
#define block2 s10
#define flips s11       /* the top bit of each number */
#define group_at a6
#define group_stride a7
#define groups_left a3
/* s0 and s1, s2 and s3, s4 and s5: sums of the rows. */

.macro begin_int bits
    .if \bits == 4
    li mask, 0x000f000f000f000f
    li flips, 0x8888888888888888
    .else
    li mask, 0x000000ff000000ff
    li flips, 0x8080808080808080
    .endif
.endm

/* temp has 1 in each field, half_fields the top bit of each. */
.macro make_fields bits
    slli temp, mask, 1
    and temp, temp, mask
    xor temp, temp, mask
    slli half_fields, temp, 4*\bits - 1
.endm

.macro begin_row bits, block, sum0, sum1
    lw lane, Q8_SUM(\block)
    slli lane, lane, \bits - 1
    mul lane, lane, temp
    sub \sum0, half_fields, lane
    mv \sum1, \sum0
.endm

.macro multiply_row block, index, sum0, sum1
    lb element, \index(\block)
    mul product, element, number0
    mul element, element, number1
    add \sum0, \sum0, product
    add \sum1, \sum1, element
.endm

.macro multiply_number count, index, shift
    .if \shift == 0
    and number0, words0, mask
    and number1, words1, mask
    .else
    srli number0, words0, \shift
    srli number1, words1, \shift
    and number0, number0, mask
    and number1, number1, mask
    .endif
    multiply_row block0, \index, s0, s1
    .if \count > 1
    multiply_row block1, \index, s2, s3
    .endif
    .if \count > 2
    multiply_row block2, \index, s4, s5
    .endif
.endm

.macro next_blocks count, bytes
    addi block0, block0, \bytes
    .if \count > 1
    addi block1, block1, \bytes
    .endif
    .if \count > 2
    addi block2, block2, \bytes
    .endif
.endm

.macro lead_blocks count, first, bytes
    mv block0, \first
    .if \count > 1
    add block1, block0, \bytes
    .endif
    .if \count > 2
    add block2, block1, \bytes
    .endif
.endm

/* Compute the sums of eight groups. Afterwards the block pointers point to the scales, half_fields is
 * loaded, and the fields of a sum are its lanes. */
.macro sum_groups bits, count
    make_fields \bits
    begin_row \bits, block0, s0, s1
    .if \count > 1
    begin_row \bits, block1, s2, s3
    .endif
    .if \count > 2
    begin_row \bits, block2, s4, s5
    .endif
    li groups_left, 8
.Lgroups\@:
    ld words0, 0(group_at)
    ld words1, 8(group_at)
    add group_at, group_at, group_stride
    xor words0, words0, flips
    xor words1, words1, flips
    multiply_number \count, 0, 0
    multiply_number \count, 1, 8
    .if \bits == 4
    multiply_number \count, 2, 4
    multiply_number \count, 3, 12
    .else
    multiply_number \count, 2, 16
    multiply_number \count, 3, 24
    .endif
    next_blocks \count, 4
    addi groups_left, groups_left, -1
    bnez groups_left, .Lgroups\@
    make_fields \bits
    .irp sum, s0, s1, s2, s3, s4, s5
    xor \sum, \sum, half_fields
    .endr
.endm

/* Call op for each lane with its index among all lanes and \more; ft0 is its sum. */
.macro for_lanes bits, sum0, sum1, op, more:vararg
    .if \bits == 4
    lanes_q4 \sum0, 0, 1, 2, 3, \op, \more
    lanes_q4 \sum1, 4, 5, 6, 7, \op, \more
    .else
    lanes_q8 \sum0, 0, 1, \op, \more
    lanes_q8 \sum1, 2, 3, \op, \more
    .endif
.endm

.macro lanes_q4 sum, a, b, c, e, op, more:vararg
    slli lane, \sum, 48
    srai lane, lane, 48
    fcvt.s.w ft0, lane
    \op \a, \more
    slli lane, \sum, 32
    srai lane, lane, 48
    fcvt.s.w ft0, lane
    \op \b, \more
    slli lane, \sum, 16
    srai lane, lane, 48
    fcvt.s.w ft0, lane
    \op \c, \more
    srai lane, \sum, 48
    fcvt.s.w ft0, lane
    \op \e, \more
.endm

.macro lanes_q8 sum, a, b, op, more:vararg
    fcvt.s.w ft0, \sum
    \op \a, \more
    srai lane, \sum, 32
    fcvt.s.w ft0, lane
    \op \b, \more
.endm

#endif
