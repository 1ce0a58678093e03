/* Weights of one and two bits without vectors: TQ2_0, Q2_0 and Q1_0. A gemm runs the gemv for each
 * token (TOKENS is 4, because x stores four together).
 *
 * As in gemv_nibbles_rv64gc.h, one multiplication makes four products. A word has 4
 * columns of rows a and b, a byte each. Masked in every other byte it is a0 + a2 B + b0
 * B^2 + b2 B^3, B = 2^16. Multiplied by x2 + x0 B, the word gives the products of a at B and of b
 * at B^3. The sums start with -S at B, B^2 and B^3, where S is the sum of all x used, so that the
 * fields end as sums of (q - 1) x for weights q of two bits. For 128 columns the sums are from
 * -32768 to 32512, an int16. The field at 1 adds up one unused product of each multiplication, at
 * most 64 * 3 * 128 = 24576; 2^15 keeps this field positive, and 2^47 + 2^32 keep the part below
 * B^3 positive.
 *
 * segments_rv64gc.h has the loops, and keeps the pairs x2 + x0 B. */
#ifndef INGOT_KERNELS_RISCV64_FEW_RV64GC_H
#define INGOT_KERNELS_RISCV64_FEW_RV64GC_H

/* A block of x in the frame: 128 pairs, the start values of the sums, d. */
#define RECORD_STARTS 512
#define RECORD_SCALE 544
#define RECORD_BYTES 552

#include "kernels/riscv64/matrix/segments_rv64gc.h"

#define mask a7        /* the low bits of each 16-bit part */
#define act0 t0        /* pairs: place 0, columns 0 and 2, then 1 and 3; place 1, ... */
#define act1 t1
#define act2 t2
#define act3 t3
#define act4 t4
#define act5 t5
#define act6 t6
#define act7 a2
#define sums0 s0       /* sums of pairs of rows, as the kernel stores them */
#define sums1 s1
#define sums2 s2
#define sums3 s3
#define sums4 s4
#define sums5 s5
#define sums6 s6
#define sums7 s7
#define word s8
#define part0 ra
#define part1 s9
#define part2 s10
#define part3 s11

#define PAIRS_BYTES 32 /* bytes of one iteration */

#define chunk_end s1
#define places_left s2
#define start_factor s3
#define start_of_sums s4
#define sums_at t3

/* Four columns, times 2^\doubled. */
.macro pack_four doubled
    lb t0, 0(from)
    lb t1, 2(from)
    lb t2, 1(from)
    lb t3, 3(from)
    slli t0, t0, 16
    slli t2, t2, 16
    add t0, t0, t1
    add t2, t2, t3
    .if \doubled
    slli t0, t0, 1
    slli t2, t2, 1
    .endif
    sw t0, 0(to)
    sw t2, 4(to)
    addi from, from, TOKENS*256/PLACES
    addi to, to, 8
.endm

/* Store start value \index, from the sums \first and \others, of 16 columns each. */
.macro put_start index, first, others:vararg
    lh t0, ACT_SUM + 2*TOKENS*\first(sums_at)
    .irp at, \others
    lh t1, ACT_SUM + 2*TOKENS*\at(sums_at)
    add t0, t0, t1
    .endr
    mul t0, t0, start_factor
    sub t0, start_of_sums, t0
    sd t0, 8*\index(to)
.endm

/* Make a record from a block of x; the macro \starts stores the start values of its sums. */
.macro pack_block starts
    li start_factor, 0x0001000100010000
    li start_of_sums, (1 << 47) + (1 << 32) + (1 << 15)
    addi chunk_end, from, TOKENS*256/PLACES
.Lpack_chunk:
    li places_left, PLACES
.Lpack_place:
    pack_four DOUBLED
    pack_four 0
    addi places_left, places_left, -2
    bnez places_left, .Lpack_place
    addi from, from, TOKENS*(4 - 256)
    bne from, chunk_end, .Lpack_chunk
    addi from, from, -TOKENS*256/PLACES
    .if TOKENS == 4
    sub sums_at, from, lane
    .else
    mv sums_at, from
    .endif
    \starts
    lw t0, ACT_SCALE(from)
    sw t0, RECORD_SCALE - RECORD_STARTS(to)
    addi to, to, RECORD_BYTES - RECORD_STARTS
.endm

.macro load_pairs
    lw act0, 0(act)
    lw act1, 4(act)
    lw act2, 8(act)
    lw act3, 12(act)
    lw act4, 16(act)
    lw act5, 20(act)
    lw act6, 24(act)
    lw act7, 28(act)
    addi act, act, PAIRS_BYTES
.endm

/* Multiply four parts of word, each masked, by four pairs, and add to four sums (or to one, four
 * times); word does not change. */
.macro multiply shift0, act_0, to0, shift1, act_1, to1, shift2, act_2, to2, shift3, act_3, to3
    srli part1, word, \shift1
    srli part2, word, \shift2
    srli part3, word, \shift3
    .if \shift0
    srli part0, word, \shift0
    and part0, part0, mask
    .else
    and part0, word, mask
    .endif
    and part1, part1, mask
    and part2, part2, mask
    and part3, part3, mask
    mul part0, part0, \act_0
    mul part1, part1, \act_1
    mul part2, part2, \act_2
    mul part3, part3, \act_3
    add \to0, \to0, part0
    add \to1, \to1, part1
    add \to2, \to2, part2
    add \to3, \to3, part3
.endm

#endif
