/* gemv and gemm of Q2_0 without vectors, as in few_rv64gc.h.
 *
 * Each bit position of a byte has its own scale, and therefore
 * its own sums. So 4 rows are computed at a time, and fa0-fa3
 * are swapped with fa4-fa7 after each half of a block. */
#ifndef INGOT_KERNELS_RISCV64_Q2_RV64GC_H
#define INGOT_KERNELS_RISCV64_Q2_RV64GC_H

#define PLACES 4
#define DOUBLED 0
#include "kernels/riscv64/matrix/few_rv64gc.h"

#define FRAME_ROWS_AT FRAME_PARKED /* the second 4 rows: the upper 16 bytes of each 32 */

.macro make_masks
    li mask, 0x0003000300030003
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

.macro starts
    put_start 0, 0, 1, 2, 3
    put_start 1, 4, 5, 6, 7
    put_start 2, 8, 9, 10, 11
    put_start 3, 12, 13, 14, 15
.endm

.macro two_rows pair, of0, of1, of2, of3
    ld word, Q2_QUANTS + 8*\pair(block)
    multiply 0, act0, \of0, 8, act1, \of0, 2, act2, \of1, 10, act3, \of1
    multiply 4, act4, \of2, 12, act5, \of2, 6, act6, \of3, 14, act7, \of3
.endm

.macro finish place, pair0, pair1
    sraiw act0, \pair0, 16
    srai act1, \pair0, 48
    sraiw act2, \pair1, 16
    srai act3, \pair1, 48
    finish_rows 8*\place, act0, act1, act2, act3, fa0, fa1, fa2, fa3, word, part1, part2, part3
.endm

.macro exchange reg0, reg1
    fmv.s ft0, \reg0
    fmv.s \reg0, \reg1
    fmv.s \reg1, ft0
.endm

.macro q2_block
    sd zero, FRAME_ROWS_AT(sp)
.Lhalf:
    ld sums0, RECORD_STARTS(act)
    ld sums2, RECORD_STARTS + 8(act)
    ld sums4, RECORD_STARTS + 16(act)
    ld sums6, RECORD_STARTS + 24(act)
    mv sums1, sums0
    mv sums3, sums2
    mv sums5, sums4
    mv sums7, sums6
    addi act_end, act, RECORD_STARTS
.Lchunk:
    load_pairs
    two_rows 0, sums0, sums2, sums4, sums6
    two_rows 1, sums1, sums3, sums5, sums7
    addi block, block, 32
    bne act, act_end, .Lchunk
    ld part1, FRAME_ROWS_AT(sp)
    flw act_scale, RECORD_SCALE - RECORD_STARTS(act)
    srli part1, part1, 1
    addi block, block, -512
    sub block, block, part1            /* scales have 8 bytes for 4 rows */
    finish 0, sums0, sums1
    finish 1, sums2, sums3
    finish 2, sums4, sums5
    finish 3, sums6, sums7
    exchange fa0, fa4
    exchange fa1, fa5
    exchange fa2, fa6
    exchange fa3, fa7
    ld part1, FRAME_ROWS_AT(sp)
    bnez part1, .Lnext
    li part1, 16
    sd part1, FRAME_ROWS_AT(sp)
    addi block, block, 16
    addi act, act, -RECORD_STARTS
    j .Lhalf
.Lnext:
    addi block, block, Q2_BYTES - 8
    addi act, act, RECORD_BYTES - RECORD_STARTS
.endm

#endif
