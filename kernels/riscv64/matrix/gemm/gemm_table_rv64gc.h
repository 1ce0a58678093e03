/* gemms through a table without vectors: RUNS runs of 32 columns share the scales of a block and
 * one sum. Four tokens are taken at a time. With four runs, as in FIG4, a block is half a block of
 * x. table_rv64gc.h has the arithmetic. The pairs of a block are on the stack for all tokens; rows
 * are taken in fours, so that the dots of all rows and tokens fill 16 registers. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_TABLE_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMM_TABLE_RV64GC_H

#define FRAME_BLOCK 304    /* where the block's scales are */
#define FRAME_ACT 312
#define FRAME_HALF 320     /* offset of the half in x's block, in bytes: 0 or HALF_BYTES */
#define FRAME_BYTES 336
#define FRAME_TABLE FRAME_BYTES /* above the frame: the table, then the pairs of x */
#define X_PAIRS_BYTES (512 * RUNS) /* pairs of a block: doubleword[16 RUNS columns][4 tokens] */
#define HALF_BYTES (4 * FIG4_COLS)

#include "kernels/riscv64/matrix/gemm/gemm_rv64gc.h"
#include "kernels/riscv64/matrix/table_rv64gc.h"

#define table mask
#define pairs_at act
#define pairs_end ra
#define pair_at t0
#define chunks_left t1
#define runs_left t2

.macro open_with_table
    li t0, -(PAIRS_BYTES + X_PAIRS_BYTES)
    add sp, sp, t0
    .cfi_adjust_cfa_offset PAIRS_BYTES + X_PAIRS_BYTES
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
    li t0, PAIRS_BYTES + X_PAIRS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset -(PAIRS_BYTES + X_PAIRS_BYTES)
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

.macro find_x_pairs to
    li \to, FRAME_TABLE + PAIRS_BYTES
    add \to, \to, sp
.endm

/* Make the pairs of a block; act moves past its x. */
.macro make_pairs
    find_x_pairs pair_at
    li runs_left, RUNS
.Lrun:
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
    addi act, act, 64
    .if RUNS > 1
    addi runs_left, runs_left, -1
    bnez runs_left, .Lrun
    .endif
.endm

/* Multiply column \column of row \index, and the column 16 further on. */
.macro row dots0, dots1, dots2, dots3, index, column
    lbu word, 4*\index + \column(block)
    slli word, word, 3
    add word, word, table
    ld word, 0(word)
    four_tokens \dots0, \dots1, \dots2, \dots3, add
.endm

/* Compute the dots of four rows, 0 to 3 of block, and all tokens; block moves to the next run. */
.macro four_rows label
    li word, 1 << 31
    of_pairs set_dots, word, word, word, word
    find_x_pairs pairs_at
    li pairs_end, X_PAIRS_BYTES
    add pairs_end, pairs_end, pairs_at
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

/* Finish rows \row0 to \row0 + 3, which have these scales. */
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

/* Multiply the weights at block, and advance block. */
.macro multiply_block block_bytes
    sd block, FRAME_BLOCK(sp)
    addi block, block, QUANTS
    sd act, FRAME_ACT(sp)
    four_rows .Lfirst
    finish_four 0, ft0, ft1, ft2, ft3
    addi block, block, 16 - 128*RUNS
    four_rows .Lsecond
    finish_four 4, ft4, ft5, ft6, ft7
    ld act, FRAME_ACT(sp)
    ld block, FRAME_BLOCK(sp)
    addi block, block, \block_bytes
.endm

/* fa0-fa3 = the scales of the tokens, at \at from \acts. */
.macro load_act_scales at, acts
    .irp token, 0, 1, 2, 3
    flw fa\token, \at + 4*\token(\acts)
    .endr
.endm

/* The block macro of gemm_loops, which moves act. */
.macro block_t4
    load_row_scales 0, act0
    make_pairs
    load_act_scales Q8X4_SCALE - 128, act
    multiply_block Q4X8_BYTES
    addi act, act, -128
.endm

/* Multiply one or two blocks of weights by a block of x. */
.macro block_fig4
    sd zero, FRAME_HALF(sp)
.Lhalf:
    load_row_scales 0, act0
    make_pairs
    ld temp, FRAME_HALF(sp)
    sub temp, act, temp
    load_act_scales Q8KX4_SCALE - HALF_BYTES, temp
    multiply_block FIG4_BYTES
    ld temp, FRAME_HALF(sp)
    bnez temp, .Ltwo_halves
    ld temp_1, FRAME_X_END(sp)
    addi temp, act, Q8KX4_BYTES - HALF_BYTES
    bne temp, temp_1, .Lnext_half
    ld temp_1, FRAME_SHAPE(sp)
    ld temp_1, SHAPE_COLS(temp_1)
    andi temp_1, temp_1, FIG4_COLS
    bnez temp_1, .Lone_half
.Lnext_half:
    li temp, HALF_BYTES
    sd temp, FRAME_HALF(sp)
    j .Lhalf
.Ltwo_halves:
    addi act, act, -HALF_BYTES
.Lone_half:
    addi act, act, -HALF_BYTES
.endm

#endif
