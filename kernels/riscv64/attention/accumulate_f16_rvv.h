/* accumulate_f32_f16 for RVV, with and without Zvfhmin.
 *
 * void accumulate_f32_f16(float *restrict o, const struct score_row *restrict s,
 *                         const uint16_t *restrict v, size_t n_q, size_t n, size_t d)
 *
 * a0 o, a1 s, a2 v, a3 n_q, a4 n, a5 d. Clobbers a0, a2, a4-a7, t0-t6, ft0-ft3, fflags, v0-v31; with
 * more than three queries saves s0-s4, and uses 8.1 KiB of stack.
 *
 * A lane is a dimension: 8 registers of values are widened once for three queries, whose sums stay
 * in 24 registers over all n positions. With more queries, the first three save the widened values
 * on the stack, for as many positions at a time as fit, and other queries read them there. */
#ifndef INGOT_KERNELS_RISCV64_ACCUMULATE_F16_RVV_H
#define INGOT_KERNELS_RISCV64_ACCUMULATE_F16_RVV_H

#include "kernels/riscv64/vector/f16_rvv.h"
#include "kernels/riscv64/attention/queries.h"

#define outs a0        /* points to o, at the first dimension of these lanes */
#define rows_at a1
#define values_at a2   /* as outs */
#define n_queries a3
#define weight_bytes a4 /* first the argument n */
#define dims_left a5
#define value a6
#define value_bytes a7 /* bytes of a position; an output row has twice as many */
#define taken t0       /* lanes taken, as vl; in the loop over positions, a counter */
#define temp t1
#define weight t3
#define out0 t4
#define row t5
#define queries_left t6
#define kept_at s0     /* with more than three queries: the widened values on the stack */
#define kept_step s1   /* bytes of a position's widened values */
#define chunk_bytes s2 /* bytes of a row's weights for the positions that are on the stack */
#define chunk_row s3   /* weights of the first of these positions */
#define chunk_value s4 /* values of the first of these positions */

#define sum0 v8        /* m8 each */
#define sum1 v16
#define sum2 v24

/* how: load (from the values), keep (load and save), kept (from the saved ones). */
.macro accumulate_position count, offset, zvfh, how
    .ifc \how, kept
    vle32.v wide, (kept_at)
    .else
    widen_halves value, \zvfh
    .endif
    flw ft1, \offset(weight)
    .if \count > 1
    flw ft2, SCORE_ROW_BYTES + \offset(weight)
    .endif
    .if \count > 2
    flw ft3, 2*SCORE_ROW_BYTES + \offset(weight)
    .endif
    .ifc \how, keep
    vse32.v wide, (kept_at)
    .endif
    .ifc \how, load
    add value, value, value_bytes
    .else
    add kept_at, kept_at, kept_step
    .ifc \how, keep
    add value, value, value_bytes
    .endif
    .endif
    vfmacc.vf sum0, ft1, wide
    .if \count > 1
    vfmacc.vf sum1, ft2, wide
    .endif
    .if \count > 2
    vfmacc.vf sum2, ft3, wide
    .endif
    .ifnc \how, kept
    flag_not_finite \zvfh
    .endif
.endm

/* Load o from \at into \sum, and advance \at to the next query. */
.macro load_sum sum, at
    vle32.v \sum, (\at)
    add \at, \at, value_bytes
    add \at, \at, value_bytes
.endm

/* Like load_sum, and multiply by the factor of query \index after \first. */
.macro start_sum sum, index, at, first
    flw ft1, \index*SCORE_ROW_BYTES + SCORE_ROW_FACTOR(\first)
    load_sum \sum, \at
    vfmul.vf \sum, \sum, ft1
.endm

/* Compute the sums of \count queries from row on; \at is o. */
.macro start_sums count, at
    start_sum sum0, 0, \at, row
    .if \count > 1
    start_sum sum1, 1, \at, row
    .endif
    .if \count > 2
    start_sum sum2, 2, \at, row
    .endif
.endm

.macro load_sums count, at
    load_sum sum0, \at
    .if \count > 1
    load_sum sum1, \at
    .endif
    .if \count > 2
    load_sum sum2, \at
    .endif
.endm

.macro store_sum sum
    vse32.v \sum, (out0)
    add out0, out0, value_bytes
    add out0, out0, value_bytes
.endm

/* Compute \count queries from row and out0 on; both move past them. If \how is not load, row points
 * to the first weight of the chunk. If \how is keep, the caller stores the sums. */
.macro accumulate_queries count, zvfh, how
    mv temp, out0
    .ifnc \how, load
    beq chunk_row, rows_at, .Lfirst_\how\()_\count
    load_sums \count, temp
    j .Lbegun_\how\()_\count
.Lfirst_\how\()_\count:
    .endif
    start_sums \count, temp
.Lbegun_\how\()_\count:
    mv weight, row
    .ifc \how, load
    fsflagsi 0
    add temp, row, weight_bytes
    mv value, values_at
    andi taken, weight_bytes, 12       /* positions beyond a multiple of four come first */
    .else
    mv kept_at, sp
    add temp, row, chunk_bytes
    andi taken, chunk_bytes, 12
    .endif
    beqz taken, .Lfours_\how\()_\count
.Lone_\how\()_\count:
    accumulate_position \count, 0, \zvfh, \how
    addi weight, weight, 4
    addi taken, taken, -4
    bnez taken, .Lone_\how\()_\count
.Lfours_\how\()_\count:
    beq weight, temp, .Lcheck_\how\()_\count
.Lfour_\how\()_\count:
    accumulate_position \count, 0, \zvfh, \how
    accumulate_position \count, 4, \zvfh, \how
    accumulate_position \count, 8, \zvfh, \how
    accumulate_position \count, 12, \zvfh, \how
    addi weight, weight, 16
    bne weight, temp, .Lfour_\how\()_\count
.Lcheck_\how\()_\count:
    .if \zvfh == 0
    .ifc \how, load
    frflags temp
    andi temp, temp, FLAG_OVERFLOW
    beqz temp, .Lstore_\count
    accumulate_slowly \count
    j .Lnext_\count
.Lstore_\count:
    .endif
    .ifc \how, keep
    frflags temp
    andi temp, temp, FLAG_OVERFLOW
    bnez temp, .Lmany_slowly
    .endif
    .endif
    store_sum sum0
    .if \count > 1
    store_sum sum1
    .endif
    .if \count > 2
    store_sum sum2
    .endif
    addi row, row, \count*SCORE_ROW_BYTES
    .ifc \how, load
.Lnext_\count:
    .endif
    addi queries_left, queries_left, -\count
.endm

/* Compute sum2 of the query at row and out0 by the conversion that is also correct for infinities
 * and NaNs. Reads \bytes bytes of weights, and the values from \values on. row and out0 move on by
 * one query. */
.macro one_slowly bytes, values
    mv weight, row
    add row, row, \bytes               /* the end of the weights */
    mv value, \values
    beq weight, row, .Lslow_store\@
.Lslow_position\@:
    widen_any_halves value, temp
    flw ft1, 0(weight)
    add value, value, value_bytes
    addi weight, weight, 4
    vfmacc.vf sum2, ft1, slow_wide
    bne weight, row, .Lslow_position\@
.Lslow_store\@:
    sub row, row, \bytes
    addi row, row, SCORE_ROW_BYTES
    store_sum sum2
.endm

/* Compute the same queries again, one at a time. */
.macro accumulate_slowly count
    li taken, \count
.Lslow_query_\count:
    mv temp, out0
    start_sum sum2, 0, temp, row
    one_slowly weight_bytes, values_at
    addi taken, taken, -1
    bnez taken, .Lslow_query_\count
.endm

.macro next_dimensions again
    csrr taken, vl
    sub dims_left, dims_left, taken
    slli temp, taken, 1
    add values_at, values_at, temp
    slli temp, taken, 2
    add outs, outs, temp
    bnez dims_left, \again
.endm

.macro accumulate_few zvfh
.Ldimensions:
    vsetvli taken, dims_left, e32, m8, ta, mu
    mv out0, outs
    mv row, rows_at
    mv queries_left, n_queries
    by_threes accumulate_queries, queries_left, temp, .Lnext_dimensions, \zvfh, load
.Lnext_dimensions:
    next_dimensions .Ldimensions
    j .Ldone
.endm

/* Compute all queries of a chunk, one at a time. */
.macro chunk_slowly
.Lmany_slow_query:
    mv temp, out0
    beq chunk_row, rows_at, .Lmany_slow_first
    load_sum sum2, temp
    j .Lmany_slow_begun
.Lmany_slow_first:
    start_sum sum2, 0, temp, row
.Lmany_slow_begun:
    one_slowly chunk_bytes, chunk_value
    addi queries_left, queries_left, -1
    bnez queries_left, .Lmany_slow_query
.endm

/* Compute more than three queries, over at least one position. */
.macro accumulate_many zvfh
    push 48, s0, s1, s2, s3, s4
    push_kept temp
.Lmany_dimensions:
    mv taken, dims_left
    li temp, KEPT_LANES
    bleu taken, temp, .Lmany_lanes
    mv taken, temp
.Lmany_lanes:
    vsetvli taken, taken, e32, m8, ta, mu
    slli kept_step, taken, 2
    mv chunk_row, rows_at
    mv chunk_value, values_at
.Lchunk:
    kept_depth chunk_bytes, kept_step
    slli chunk_bytes, chunk_bytes, 2
    add temp, rows_at, weight_bytes
    sub temp, temp, chunk_row          /* remaining bytes of weights */
    bleu chunk_bytes, temp, .Lchunk_fits
    mv chunk_bytes, temp
.Lchunk_fits:
    mv out0, outs
    mv row, chunk_row
    mv queries_left, n_queries
    mv value, chunk_value
    fsflagsi 0
    accumulate_queries 3, \zvfh, keep
    by_threes accumulate_queries, queries_left, temp, .Lnext_chunk, \zvfh, kept
.Lnext_chunk:
    srli temp, chunk_bytes, 2
    mul temp, temp, value_bytes
    add chunk_value, chunk_value, temp
    add chunk_row, chunk_row, chunk_bytes
    sub temp, chunk_row, rows_at
    bne temp, weight_bytes, .Lchunk
    next_dimensions .Lmany_dimensions
    .if \zvfh == 0
    j .Lmany_done
.Lmany_slowly:
    chunk_slowly
    j .Lnext_chunk
.Lmany_done:
    .endif
    pop_kept temp
    pop 48, s0, s1, s2, s3, s4
.endm

.macro accumulate_f32_f16 zvfh
    widen_start temp
    slli value_bytes, dims_left, 1
    slli weight_bytes, weight_bytes, 2
    beqz n_queries, .Ldone
    beqz dims_left, .Ldone
    li temp, 3
    bgtu n_queries, temp, .Lmany
.Lfew:
    accumulate_few \zvfh
.Lmany:
    beqz weight_bytes, .Lfew
    accumulate_many \zvfh
.Ldone:
.endm

#endif
