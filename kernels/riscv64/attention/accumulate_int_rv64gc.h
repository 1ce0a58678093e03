/* accumulate_f32_q4_q8 and accumulate_f32_q8_q8 without vectors take strips of 8 dimensions (4 with
 * eight bits), for three rows, two or one. The second half of the tile follows the first.
 *
 * a0 o, then o of the strip, a1 s, a2 w, then w of the block, a3 v, then rows or groups left, a4 n_q,
 * then bytes left of the block's first group, a5 d, then bytes of a row of o, s6 bytes of a row of w,
 * s7 whether it is the second half. Clobbers a0-a7, t0-t6, ft0, ft1, ft8-ft10; saves s0-s11. */
#ifndef INGOT_KERNELS_RISCV64_ACCUMULATE_INT_RV64GC_H
#define INGOT_KERNELS_RISCV64_ACCUMULATE_INT_RV64GC_H

#include "kernels/riscv64/attention/attention_int_rv64gc.h"
#include "kernels/riscv64/attention/queries.h"

#define out_at a0
#define factors a1
#define weight_at a2
#define rows_left a3
#define strip_left a4
#define out_bytes a5
#define weight_bytes s6
#define second s7
#define weight_scale ft8
#define factor ft9
#define one ft10

/* The frame, below the saved registers. */
#define OUTS 0
#define WEIGHTS 8
#define VALUES 16
#define ROWS_LEFT 24
#define FRAME 32

.macro add_lane index
    flw ft1, 4*\index(out_row)
    fmul.s ft1, ft1, factor
    fmadd.s ft1, ft0, weight_scale, ft1
    fsw ft1, 4*\index(out_row)
.endm

/* o = fma(sum, w.d, o); in the first half of the tile, o * factor replaces o. */
.macro add_row bits, row, block, sum0, sum1
    flw weight_scale, 0(\block)
    fmv.s factor, one
    bnez second, .Lsecond\@
    flw factor, \row*SCORE_ROW_BYTES + SCORE_ROW_FACTOR(factors)
.Lsecond\@:
    for_lanes \bits, \sum0, \sum1, add_lane
    add out_row, out_row, out_bytes
.endm

/* Compute all dimensions of \count rows. */
.macro accumulate_rows count, bits
    sd rows_left, ROWS_LEFT(sp)
    sd out_at, OUTS(sp)
    sd weight_at, WEIGHTS(sp)
    ld group_at, VALUES(sp)
.Lblock\@:
    mv strip_left, group_stride
.Lstrip\@:
    lead_blocks \count, weight_at, weight_bytes
    li second, 0
.Lhalf\@:
    sum_groups \bits, \count
    mv out_row, out_at
    add_row \bits, 0, block0, s0, s1
    .if \count > 1
    add_row \bits, 1, block1, s2, s3
    .endif
    .if \count > 2
    add_row \bits, 2, block2, s4, s5
    .endif
    next_blocks \count, Q8_BYTES - Q8_SCALE
    xori second, second, 1
    bnez second, .Lhalf\@
    slli temp, group_stride, 4
    sub group_at, group_at, temp
    addi group_at, group_at, 16
    addi out_at, out_at, 128/\bits
    addi strip_left, strip_left, -16
    bnez strip_left, .Lstrip\@
    add group_at, group_at, temp
    sub group_at, group_at, group_stride /* skip the block's other groups */
    addi weight_at, weight_at, 2*Q8_BYTES
    ld temp, OUTS(sp)
    add temp, temp, out_bytes
    bne out_at, temp, .Lblock\@
    ld weight_at, WEIGHTS(sp)
    .rept \count
    add weight_at, weight_at, weight_bytes
    .endr
    .if \count > 1
    .rept \count - 1
    add out_at, out_at, out_bytes
    .endr
    .endif
    addi factors, factors, \count*SCORE_ROW_BYTES
    ld rows_left, ROWS_LEFT(sp)
    addi rows_left, rows_left, -\count
.endm

/* The whole body of a kernel, between func and endfunc. */
.macro accumulate_int bits
    push_at FRAME, FRAME + ALL_SAVED_BYTES, ALL_SAVED
    beqz out_bytes, .Ldone
    begin_int \bits
    sd a3, VALUES(sp)
    mv rows_left, a4
    srli weight_bytes, out_bytes, 5
    li group_stride, 32*\bits/2
    andi temp, weight_bytes, 1
    bnez temp, .Lwidth
    srli weight_bytes, weight_bytes, 1
    li group_stride, 64*\bits/2
.Lwidth:
    li temp, 2*Q8_BYTES
    mul weight_bytes, weight_bytes, temp
    slli out_bytes, out_bytes, 2
    load_float one, F32_ONE, temp
    by_threes accumulate_rows, rows_left, temp, .Ldone, \bits
.Ldone:
    pop_at FRAME, FRAME + ALL_SAVED_BYTES, ALL_SAVED
    ret
.endm

#endif
