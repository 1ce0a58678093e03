/* score_f32_q4 and score_f32_q8 without vectors take strips of 8 positions (4 with eight bits), for
 * three queries, two or one. Between blocks, the sums are kept in s.
 *
 * a0 s, a1 q, a2 scales, a3 n_q, then queries or groups left, a4 n, a5 d, then bytes of a query, s6 s
 * of the strip, s7 scales of the strip in the block. Clobbers a0, a1, a3, a5-a7, t0-t6, ft0-ft2, ft8,
 * fa0-fa7; keeps s0-s11. */
#ifndef INGOT_KERNELS_RISCV64_SCORE_INT_RV64GC_H
#define INGOT_KERNELS_RISCV64_SCORE_INT_RV64GC_H

#include "kernels/riscv64/attention/attention_int_rv64gc.h"
#include "kernels/riscv64/attention/queries.h"

#define rows_at a0
#define queries a1
#define scales a2
#define queries_left a3
#define n_positions a4
#define query_bytes a5
#define score_at s6
#define scale_at s7
#define query_scale ft8

/* The frame, below the saved registers. */
#define SCALE_BYTES 0
#define QUERIES_LEFT 8
#define FRAME 16

/* A scale, and a group of keys, has \bits / 2 bytes per position. */
.macro load_scale bits, reg, index
    .if \bits == 4
    lhu temp, 2*\index(scale_at)
    slli temp, temp, 16
    fmv.w.x \reg, temp
    .elseif \index < 4
    flw \reg, 4*\index(scale_at)
    .endif
.endm

.macro load_scales bits
    load_scale \bits, fa0, 0
    load_scale \bits, fa1, 1
    load_scale \bits, fa2, 2
    load_scale \bits, fa3, 3
    load_scale \bits, fa4, 4
    load_scale \bits, fa5, 5
    load_scale \bits, fa6, 6
    load_scale \bits, fa7, 7
.endm

.macro add_lane index, bits, row
    flw ft1, \row*SCORE_ROW_BYTES + 4*\index(score_at)
    .if \bits == 4
    fmul.s ft0, ft0, fa\index
    fmadd.s ft1, ft0, query_scale, ft1
    .else
    fmul.s ft2, fa\index, query_scale
    fmadd.s ft1, ft0, ft2, ft1
    .endif
    fsw ft1, \row*SCORE_ROW_BYTES + 4*\index(score_at)
.endm

.macro add_row bits, row, block, sum0, sum1
    flw query_scale, 0(\block)
    for_lanes \bits, \sum0, \sum1, add_lane, \bits, \row
.endm

.macro zero_row bits, row
    sd zero, \row*SCORE_ROW_BYTES(score_at)
    sd zero, \row*SCORE_ROW_BYTES + 8(score_at)
    .if \bits == 4
    sd zero, \row*SCORE_ROW_BYTES + 16(score_at)
    sd zero, \row*SCORE_ROW_BYTES + 24(score_at)
    .endif
.endm

/* Compute all positions of \count queries. */
.macro score_queries count, bits
    sd queries_left, QUERIES_LEFT(sp)
    mv score_at, rows_at
    mv scale_at, scales
.Lstrip\@:
    ld temp, SCALE_BYTES(sp)
    add group_at, scale_at, temp
    lead_blocks \count, queries, query_bytes
    zero_row \bits, 0
    .if \count > 1
    zero_row \bits, 1
    .endif
    .if \count > 2
    zero_row \bits, 2
    .endif
    beqz query_bytes, .Lnext\@
.Lblock\@:
    sum_groups \bits, \count
    load_scales \bits
    add_row \bits, 0, block0, s0, s1
    .if \count > 1
    add_row \bits, 1, block1, s2, s3
    .endif
    .if \count > 2
    add_row \bits, 2, block2, s4, s5
    .endif
    next_blocks \count, Q8_BYTES - Q8_SCALE
    addi scale_at, scale_at, \bits/2*KV_TILE
    add temp, queries, query_bytes
    bne block0, temp, .Lblock\@
.Lnext\@:
    ld temp, SCALE_BYTES(sp)
    sub scale_at, scale_at, temp
    addi scale_at, scale_at, 16
    addi score_at, score_at, 128/\bits
    sub temp, score_at, rows_at
    srli temp, temp, 2
    bne temp, n_positions, .Lstrip\@
    addi rows_at, rows_at, \count*SCORE_ROW_BYTES
    .rept \count
    add queries, queries, query_bytes
    .endr
    ld queries_left, QUERIES_LEFT(sp)
    addi queries_left, queries_left, -\count
.endm

/* The whole body of a kernel, between func and endfunc. */
.macro score_int bits
    push_at FRAME, FRAME + ALL_SAVED_BYTES, ALL_SAVED
    beqz n_positions, .Ldone
    begin_int \bits
    li group_stride, \bits/2*KV_TILE
    srli query_bytes, query_bytes, 5
    mul temp, query_bytes, group_stride
    sd temp, SCALE_BYTES(sp)
    li temp, Q8_BYTES
    mul query_bytes, query_bytes, temp
    by_threes score_queries, queries_left, temp, .Ldone, \bits
.Ldone:
    pop_at FRAME, FRAME + ALL_SAVED_BYTES, ALL_SAVED
    ret
.endm

#endif
