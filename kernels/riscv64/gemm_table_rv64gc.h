/* gemms through a table without vectors: RUNS runs of 32 columns to a block of scales, four tokens
 * at a time. table_rv64gc.h has the arithmetic. A run's pairs of all tokens lie in the frame; rows
 * pass by four, so that their dots and those of the tokens are 16 registers. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_TABLE_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMM_TABLE_RV64GC_H

#define FRAME_BLOCK 304    /* where its scales are */
#define FRAME_ACT 312
#define FRAME_RUNS 320     /* left */
#define FRAME_PAIRS 328    /* of a run: doubleword[16 columns][4 tokens] */
#define FRAME_BYTES 848
#define FRAME_TABLE FRAME_BYTES /* above the frame */

#include "kernels/riscv64/gemm_rv64gc.h"
#include "kernels/riscv64/table_rv64gc.h"

#define table mask
#define pairs_at act
#define pairs_end ra
#define pair_at t0
#define chunks_left t1

.macro open_with_table
    li t0, -PAIRS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset PAIRS_BYTES
    open_frame
    sd ra, FRAME_RA(sp)
    .cfi_rel_offset ra, FRAME_RA
    addi t0, sp, FRAME_TABLE
    make_table act0, t0, t1, t2, t3, t4, t5
.endm

.macro close_with_table
    ld ra, FRAME_RA(sp)
    .cfi_restore ra
    close_frame
    li t0, PAIRS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset -PAIRS_BYTES
.endm

.macro start
    load_float scale_up, F32_2P112, temp
    addi table, sp, FRAME_TABLE
.endm

.macro make_pair token, column
    lb act0, 4*\token + \column(act)
    lb act1, 64 + 4*\token + \column(act)
    slli act0, act0, 32
    add act0, act0, act1
    sd act0, 32*\column + 8*\token(pair_at)
.endm

/* The pairs of a run, 64 bytes of x after act. */
.macro make_pairs
    addi pair_at, sp, FRAME_PAIRS
    li chunks_left, 4
.Lpairs:
    .irp token, 0, 1, 2, 3
    make_pair \token, 0
    make_pair \token, 1
    make_pair \token, 2
    make_pair \token, 3
    .endr
    addi act, act, 16
    addi pair_at, pair_at, 128
    addi chunks_left, chunks_left, -1
    bnez chunks_left, .Lpairs
.endm

/* Column \column of row \index, and the one 16 further on. */
.macro row dots0, dots1, dots2, dots3, index, column
    lbu word, 4*\index + \column(block)
    slli word, word, 3
    add word, word, table
    ld word, 0(word)
    four_tokens \dots0, \dots1, \dots2, \dots3, add
.endm

/* Dots of four rows, 0 to 3 of block, and all tokens; block moves by a run. */
.macro four_rows label
    li word, 1 << 31
    of_pairs set_dots, word, word, word, word
    addi pairs_at, sp, FRAME_PAIRS
    addi pairs_end, pairs_at, 512
\label:
    .irp column, 0, 1, 2, 3
    ld act0, 32*\column(pairs_at)
    ld act1, 32*\column + 8(pairs_at)
    ld act2, 32*\column + 16(pairs_at)
    ld act3, 32*\column + 24(pairs_at)
    of_pair 0, row, 0, \column
    of_pair 1, row, 1, \column
    of_pair 2, row, 2, \column
    of_pair 3, row, 3, \column
    .endr
    addi block, block, 32
    addi pairs_at, pairs_at, 128
    bne pairs_at, pairs_end, \label
.endm

.macro finish row0, scale0, scale1, token, first, second
    srai \first, \first, 32
    srai \second, \second, 32
    finish_pair fmadd.s, \first, \second, \row0, \scale0, \scale1, \token
.endm

/* Rows \row0 to \row0 + 3, whose scales these are. */
.macro finish_four row0, scale0, scale1, scale2, scale3
    finish \row0, \scale0, \scale1, 0, dots00, dots10
    finish \row0, \scale0, \scale1, 1, dots01, dots11
    finish \row0, \scale0, \scale1, 2, dots02, dots12
    finish \row0, \scale0, \scale1, 3, dots03, dots13
    finish (\row0 + 2), \scale2, \scale3, 0, dots20, dots30
    finish (\row0 + 2), \scale2, \scale3, 1, dots21, dots31
    finish (\row0 + 2), \scale2, \scale3, 2, dots22, dots32
    finish (\row0 + 2), \scale2, \scale3, 3, dots23, dots33
.endm

.macro table_block block_bytes
    load_row_scales 0, act0
    sd block, FRAME_BLOCK(sp)
    addi block, block, QUANTS
    .if RUNS > 1
    li temp, RUNS
    sd temp, FRAME_RUNS(sp)
.Lrun:
    .endif
    make_pairs
    .irp token, 0, 1, 2, 3
    flw fa\token, Q8X4_SCALE - 64 + 4*\token(act)
    .endr
    sd act, FRAME_ACT(sp)
    four_rows .Lfirst
    finish_four 0, ft0, ft1, ft2, ft3
    addi block, block, 16 - 128
    four_rows .Lsecond
    finish_four 4, ft4, ft5, ft6, ft7
    ld act, FRAME_ACT(sp)
    addi block, block, -16
    .if RUNS > 1
    ld temp, FRAME_RUNS(sp)
    addi act, act, Q8X4_BYTES - 64
    addi temp, temp, -1
    sd temp, FRAME_RUNS(sp)
    bnez temp, .Lrun
    addi act, act, -RUNS*Q8X4_BYTES
    .else
    addi act, act, -64
    .endif
    ld block, FRAME_BLOCK(sp)
.endm

#endif
