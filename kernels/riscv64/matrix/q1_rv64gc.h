/* gemv and gemm of Q1_0 without vectors, as in few_rv64gc.h.
 *
 * The sums add (2 bit - 1) x. One shift serves two bits. The upper bit is multiplied in place, so
 * it counts twice; the lower bit is multiplied by 2 x instead. The low and the high nibbles of the
 * bytes, 128 columns each, have their own sums and scales. */
#ifndef INGOT_KERNELS_RISCV64_Q1_RV64GC_H
#define INGOT_KERNELS_RISCV64_Q1_RV64GC_H

#define PLACES 8
#define DOUBLED 1
#include "kernels/riscv64/matrix/few_rv64gc.h"

#define mask_upper sign_bits /* mask << 1; used within a block */

.macro make_masks
    li mask, 0x0001000100010001
    slli mask_upper, mask, 1
.endm

.macro starts
    put_start 0, 0, 1, 2, 3, 4, 5, 6, 7
    put_start 1, 8, 9, 10, 11, 12, 13, 14, 15
.endm

/* Multiply two bits of each field: from \shift on for
 * columns 0 and 2, from \shift + 8 on for 1 and 3. */
.macro two_bits shift, sums, lower, lower_odd, upper, upper_odd
    srli part3, word, \shift + 8
    .if \shift
    srli part1, word, \shift
    and part0, part1, mask
    and part1, part1, mask_upper
    .else
    and part0, word, mask
    and part1, word, mask_upper
    .endif
    and part2, part3, mask
    and part3, part3, mask_upper
    mul part0, part0, \lower
    mul part1, part1, \upper
    mul part2, part2, \lower_odd
    mul part3, part3, \upper_odd
    add \sums, \sums, part0
    add \sums, \sums, part1
    add \sums, \sums, part2
    add \sums, \sums, part3
.endm

.macro two_rows pair, shift, sums
    ld word, Q1_QUANTS + 8*\pair(block)
    two_bits \shift, \sums, act0, act1, act2, act3
    two_bits \shift + 2, \sums, act4, act5, act6, act7
.endm

.macro finish half, pair0, pair1, pair2, pair3
    sraiw act0, \pair0, 16
    srai act1, \pair0, 48
    sraiw act2, \pair1, 16
    srai act3, \pair1, 48
    finish_rows 8*\half, act0, act1, act2, act3, fa0, fa1, fa2, fa3, word, part1, part2, part3
    sraiw act0, \pair2, 16
    srai act1, \pair2, 48
    sraiw act2, \pair3, 16
    srai act3, \pair3, 48
    finish_rows (8*\half + 4), act0, act1, act2, act3, fa4, fa5, fa6, fa7, word, part1, part2, part3
.endm

.macro q1_block
    ld sums0, RECORD_STARTS(act)
    ld sums4, RECORD_STARTS + 8(act)
    mv sums1, sums0
    mv sums2, sums0
    mv sums3, sums0
    mv sums5, sums4
    mv sums6, sums4
    mv sums7, sums4
    addi act_end, act, RECORD_STARTS
.Lchunk:
    load_pairs
    two_rows 0, 0, sums0
    two_rows 1, 0, sums1
    two_rows 2, 0, sums2
    two_rows 3, 0, sums3
    load_pairs
    two_rows 0, 4, sums4
    two_rows 1, 4, sums5
    two_rows 2, 4, sums6
    two_rows 3, 4, sums7
    addi block, block, 32
    bne act, act_end, .Lchunk
    flw act_scale, RECORD_SCALE - RECORD_STARTS(act)
    addi block, block, -256
    li sign_bits, F16_SIGN_MAGNITUDE
    finish 0, sums0, sums1, sums2, sums3
    finish 1, sums4, sums5, sums6, sums7
    slli mask_upper, mask, 1
    addi block, block, Q1_BYTES
    addi act, act, RECORD_BYTES - RECORD_STARTS
.endm

#endif
