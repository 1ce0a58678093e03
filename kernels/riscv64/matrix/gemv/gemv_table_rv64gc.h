/* gemvs through a table without vectors: RUNS runs of 32 columns share the scales of a block and
 * one sum. With four runs, as in FIG4, a block is half a block of x. table_rv64gc.h has the
 * arithmetic. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_TABLE_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMV_TABLE_RV64GC_H

#include "kernels/riscv64/matrix/gemv_rv64gc.h"
#include "kernels/riscv64/matrix/table_rv64gc.h"

#define table a7       /* table of pairs, on the stack */
#define pair t0        /* x_(c+16) + x_c 2^32 */
#define part0 t1
#define part1 t2
#define part2 t3
#define part3 t4
#define start t5       /* 2^31 */
#define quants_end t6  /* of a run */
#define quants s8
#define runs_left s9
#define half s10       /* half of x's block, in bytes: 0 or 128 */
#define sum0 s0
#define sum1 s1
#define sum2 s2
#define sum3 s3
#define sum4 s4
#define sum5 s5
#define sum6 s6
#define sum7 s7

/* Multiply column \column of four rows, and the column 16 further on. */
.macro four_rows row, column, to0, to1, to2, to3
    lbu part0, 4*(\row) + \column(quants)
    lbu part1, 4*(\row) + \column + 4(quants)
    lbu part2, 4*(\row) + \column + 8(quants)
    lbu part3, 4*(\row) + \column + 12(quants)
    .irp part, part0, part1, part2, part3
    slli \part, \part, 3
    .endr
    .irp part, part0, part1, part2, part3
    add \part, \part, table
    .endr
    .irp part, part0, part1, part2, part3
    ld \part, 0(\part)
    .endr
    .irp part, part0, part1, part2, part3
    mul \part, \part, pair
    .endr
    add \to0, \to0, part0
    add \to1, \to1, part1
    add \to2, \to2, part2
    add \to3, \to3, part3
.endm

/* Add 32 columns to the sums. quants advances past all of them, act past 16. */
.macro run
    addi quants_end, quants, GROUP_ROWS*BLOCK_COLS/2
.Lchunk:
    .irp column, 0, 1, 2, 3
    lb pair, \column(act)
    lb part0, \column + 16(act)
    slli pair, pair, 32
    add pair, pair, part0
    four_rows 0, \column, sum0, sum1, sum2, sum3
    four_rows 4, \column, sum4, sum5, sum6, sum7
    .endr
    addi quants, quants, GROUP_ROWS*CHUNK_COLS
    addi act, act, CHUNK_COLS
    bne quants, quants_end, .Lchunk
.endm

/* If the number of FIG4's blocks is odd, act_end is after the first half of x's last block. */
.macro find_end temp, bytes
    srli \temp, act_end, FIG4_COLS_LOG2
    srli act_end, \temp, 1
    li \bytes, Q8K_BYTES
    mul act_end, act_end, \bytes
    add act_end, act_end, act_start
    andi \temp, \temp, 1
    slli \temp, \temp, FIG4_COLS_LOG2
    add act_end, act_end, \temp
.endm

/* Load the scale of the block of x; act moves to the next block. */
.macro next_acts
    .if RUNS > 1
    sub part0, act, half
    flw act_scale, Q8K_SCALE - FIG4_COLS(part0)
    xori half, half, FIG4_COLS
    bnez half, .Lhalf
    addi act, act, Q8K_BYTES - 2 * FIG4_COLS
.Lhalf:
    .else
    flw act_scale, Q8_SCALE - 32(act)
    addi act, act, Q8_BYTES - 32
    .endif
.endm

.macro gemv_table block_bytes
    push ALL_SAVED_BYTES, ALL_SAVED
    addi sp, sp, -PAIRS_BYTES
    .cfi_adjust_cfa_offset PAIRS_BYTES
    mv part0, sp
    make_table act, part0, part1, part2, part3, start, quants_end
    .if RUNS > 1
    find_end part0, part1
    load_constants part0
    .else
    start_rows part1, part2
    .endif
    mv table, sp
    li start, 1 << 31
    beqz rows_left, .Ldone
.Lgroup:
    clear_sums
    mv act, act_start
    .if RUNS > 1
    li half, 0
    .endif
    beq act, act_end, .Lstore
.Lblock:
    addi quants, block, QUANTS
    .irp sum, sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7
    mv \sum, start
    .endr
    .if RUNS > 1
    li runs_left, RUNS
    .endif
.Lrun:
    run
    addi act, act, BLOCK_COLS / 2
    .if RUNS > 1
    addi runs_left, runs_left, -1
    bnez runs_left, .Lrun
    .endif
    .irp sum, sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7
    srai \sum, \sum, 32
    .endr
    next_acts
    finish_rows 0, sum0, sum1, sum2, sum3, fa0, fa1, fa2, fa3, part0, part1, part2, part3
    finish_rows 4, sum4, sum5, sum6, sum7, fa4, fa5, fa6, fa7, part0, part1, part2, part3
    addi block, block, \block_bytes
    bne act, act_end, .Lblock
.Lstore:
    store_sums .Ldone
    j .Lgroup
.Ldone:
    li part0, PAIRS_BYTES
    add sp, sp, part0
    .cfi_adjust_cfa_offset -PAIRS_BYTES
    pop ALL_SAVED_BYTES, ALL_SAVED
.endm

#endif
