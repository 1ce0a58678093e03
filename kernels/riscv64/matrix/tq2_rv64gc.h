/* gemv and gemm of TQ2_0 without vectors, as in few_rv64gc.h.
 *
 * In half a block, the sums of a pair of rows add all four fields of a
 * byte, 64 columns apart; the frame keeps the sums of the first half. */
#ifndef INGOT_KERNELS_RISCV64_TQ2_RV64GC_H
#define INGOT_KERNELS_RISCV64_TQ2_RV64GC_H

#define PLACES 4
#define DOUBLED 0
#include "kernels/riscv64/matrix/few_rv64gc.h"

#define first_half sums4

.macro make_masks
    li mask, 0x0003000300030003
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

.macro starts
    put_start 0, 0, 1, 4, 5, 8, 9, 12, 13
    put_start 1, 2, 3, 6, 7, 10, 11, 14, 15
.endm

.macro two_rows pair, sums
    ld word, TQ2_QUANTS + 8*\pair(block)
    multiply 0, act0, \sums, 8, act1, \sums, 2, act2, \sums, 10, act3, \sums
    multiply 4, act4, \sums, 12, act5, \sums, 6, act6, \sums, 14, act7, \sums
.endm

.macro unpack pair, sums, low, high
    ld part1, FRAME_PARKED + 8*\pair(sp)
    sraiw \low, \sums, 16
    srai \high, \sums, 48
    sraiw part2, part1, 16
    srai part1, part1, 48
    add \low, \low, part2
    add \high, \high, part1
.endm

.macro tq2_block
    ld sums0, RECORD_STARTS(act)
    li first_half, 1
.Lhalf:
    mv sums1, sums0
    mv sums2, sums0
    mv sums3, sums0
    addi act_end, act, RECORD_STARTS/2
.Lchunk:
    load_pairs
    two_rows 0, sums0
    two_rows 1, sums1
    two_rows 2, sums2
    two_rows 3, sums3
    addi block, block, 32
    bne act, act_end, .Lchunk
    beqz first_half, .Lunpack
    sd sums0, FRAME_PARKED(sp)
    sd sums1, FRAME_PARKED + 8(sp)
    sd sums2, FRAME_PARKED + 16(sp)
    sd sums3, FRAME_PARKED + 24(sp)
    ld sums0, RECORD_STARTS/2 + 8(act)
    li first_half, 0
    j .Lhalf
.Lunpack:
    flw act_scale, RECORD_SCALE - RECORD_STARTS(act)
    addi block, block, -512
    unpack 0, sums0, act0, act1
    unpack 1, sums1, act2, act3
    unpack 2, sums2, act4, act5
    unpack 3, sums3, act6, act7
    finish_rows 0, act0, act1, act2, act3, fa0, fa1, fa2, fa3, word, part1, part2, part3
    finish_rows 4, act4, act5, act6, act7, fa4, fa5, fa6, fa7, word, part1, part2, part3
    addi block, block, TQ2_BYTES
    addi act, act, RECORD_BYTES - RECORD_STARTS
.endm

#endif
