/* accumulate_f32_f16 for RVV, with and without Zvfhmin.
 *
 * void accumulate_f32_f16(float *restrict o, const struct score_row *restrict s,
 *                         const uint16_t *restrict v, size_t n_q, size_t n, size_t d)
 *
 * a0 o, a1 s, a2 v, a3 n_q, a4 n, a5 d. Clobbers a0, a2, a4-a7, t0-t6, ft0-ft3, fflags, v0-v31.
 *
 * A lane is a dimension: 8 registers of values are widened once for three queries, whose sums
 * stay in 24 registers over all n positions. */
#ifndef INGOT_KERNELS_RISCV64_ACCUMULATE_F16_RVV_H
#define INGOT_KERNELS_RISCV64_ACCUMULATE_F16_RVV_H

#include "kernels/riscv64/f16_rvv.h"
#include "kernels/riscv64/queries.h"

#define outs a0        /* o, at the first dimension of these lanes */
#define rows_at a1
#define values_at a2   /* as outs */
#define n_queries a3
#define weight_bytes a4 /* first the argument n */
#define dims_left a5
#define value a6
#define value_bytes a7 /* of a position; an output row has twice as many */
#define taken t0       /* while positions pass: a counter; vl has it */
#define temp t1
#define weight t3
#define out0 t4
#define row t5
#define queries_left t6

#define sum0 v8        /* m8 each */
#define sum1 v16
#define sum2 v24

.macro accumulate_position count, offset, zvfh
    widen_halves value, \zvfh
    flw ft1, \offset(weight)
    .if \count > 1
    flw ft2, SCORE_ROW_BYTES + \offset(weight)
    .endif
    .if \count > 2
    flw ft3, 2*SCORE_ROW_BYTES + \offset(weight)
    .endif
    add value, value, value_bytes
    vfmacc.vf sum0, ft1, wide
    .if \count > 1
    vfmacc.vf sum1, ft2, wide
    .endif
    .if \count > 2
    vfmacc.vf sum2, ft3, wide
    .endif
    flag_not_finite \zvfh
.endm

/* \sum = o of query \index after row, times its factor; \at moves on to the next query. */
.macro start_sum sum, index, at
    flw ft1, \index*SCORE_ROW_BYTES + SCORE_ROW_FACTOR(row)
    vle32.v \sum, (\at)
    add \at, \at, value_bytes
    add \at, \at, value_bytes
    vfmul.vf \sum, \sum, ft1
.endm

.macro store_sum sum
    vse32.v \sum, (out0)
    add out0, out0, value_bytes
    add out0, out0, value_bytes
.endm

/* \count queries from row and out0 on; both move past them. */
.macro accumulate_queries count, zvfh
    mv temp, out0
    start_sum sum0, 0, temp
    .if \count > 1
    start_sum sum1, 1, temp
    .endif
    .if \count > 2
    start_sum sum2, 2, temp
    .endif
    fsflagsi 0
    mv weight, row
    add temp, row, weight_bytes
    mv value, values_at
    andi taken, weight_bytes, 12       /* positions beyond a multiple of four come first */
    beqz taken, .Lfours_\count
.Lone_\count:
    accumulate_position \count, 0, \zvfh
    addi weight, weight, 4
    addi taken, taken, -4
    bnez taken, .Lone_\count
.Lfours_\count:
    beq weight, temp, .Lcheck_\count
.Lfour_\count:
    accumulate_position \count, 0, \zvfh
    accumulate_position \count, 4, \zvfh
    accumulate_position \count, 8, \zvfh
    accumulate_position \count, 12, \zvfh
    addi weight, weight, 16
    bne weight, temp, .Lfour_\count
.Lcheck_\count:
    .if \zvfh == 0
    frflags temp
    andi temp, temp, FLAG_OVERFLOW
    beqz temp, .Lstore_\count
    accumulate_slowly \count
    j .Lnext_\count
.Lstore_\count:
    .endif
    store_sum sum0
    .if \count > 1
    store_sum sum1
    .endif
    .if \count > 2
    store_sum sum2
    .endif
    addi row, row, \count*SCORE_ROW_BYTES
.Lnext_\count:
    addi queries_left, queries_left, -\count
.endm

/* The same queries once more, one at a time, from what is still in memory. */
.macro accumulate_slowly count
    li taken, \count
.Lslow_query_\count:
    mv temp, out0
    start_sum sum2, 0, temp
    mv weight, row
    add row, row, weight_bytes         /* as the end, for a while */
    mv value, values_at
    beqz weight_bytes, .Lslow_store_\count
.Lslow_position_\count:
    widen_any_halves value, temp
    flw ft1, 0(weight)
    add value, value, value_bytes
    addi weight, weight, 4
    vfmacc.vf sum2, ft1, slow_wide
    bne weight, row, .Lslow_position_\count
.Lslow_store_\count:
    sub row, row, weight_bytes
    addi row, row, SCORE_ROW_BYTES
    store_sum sum2
    addi taken, taken, -1
    bnez taken, .Lslow_query_\count
.endm

.macro accumulate_f32_f16 zvfh
    widen_start temp
    slli value_bytes, dims_left, 1
    slli weight_bytes, weight_bytes, 2
    beqz n_queries, .Ldone
    beqz dims_left, .Ldone
.Ldimensions:
    vsetvli taken, dims_left, e32, m8, ta, mu
    mv out0, outs
    mv row, rows_at
    mv queries_left, n_queries
    by_threes accumulate_queries, queries_left, temp, .Lnext_dimensions, \zvfh
.Lnext_dimensions:
    csrr taken, vl
    sub dims_left, dims_left, taken
    slli temp, taken, 1
    add values_at, values_at, temp
    slli temp, taken, 2
    add outs, outs, temp
    bnez dims_left, .Ldimensions
.Ldone:
.endm

#endif
