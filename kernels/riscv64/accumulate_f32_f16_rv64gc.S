/* void accumulate_f32_f16_rv64gc(float *restrict o, const struct score_row *restrict s,
 *                                const uint16_t *restrict v, size_t n_q, size_t n, size_t d)
 *
 * a0 o, a1 s, a2 v, a3 n_q, a4 n, a5 d. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft11, fa0-fa7, fflags;
 * keeps s0-s3 on the stack.
 *
 * Four dimensions are widened once for three queries: 42 instructions for their 12 products. An
 * infinite or NaN value makes these 12 sums go the slow way. */
#include "kernels/riscv64/f16_rv64gc.h"
#include "kernels/riscv64/queries.h"

#define out a0         /* of the first of these queries */
#define row a1
#define values_at a2
#define queries_left a3
#define weight_bytes a4 /* first the argument n */
#define out_bytes a5   /* first the argument d */
#define value a6
#define value_bytes a7
#define weight t0
#define temp t0        /* between queries */
#define weight_end t1
#define column s0      /* the first value of these dimensions */
#define sums_at s1
#define sums_end s2
#define index s3

.macro step count, lanes
    widen_lanes \lanes, value
    flw ft4, 0(weight)
    .if \count > 1
    flw ft5, SCORE_ROW_BYTES(weight)
    .endif
    .if \count > 2
    flw ft6, 2*SCORE_ROW_BYTES(weight)
    .endif
    add value, value, value_bytes
    addi weight, weight, 4
    add_queries \count, \lanes
.endm

/* \at moves on to the next query. */
.macro load_sums lanes, query, at, sum0, sum1, sum2, sum3
    flw ft0, \query*SCORE_ROW_BYTES + SCORE_ROW_FACTOR(row)
    flw \sum0, 0(\at)
    fmul.s \sum0, \sum0, ft0
    .if \lanes == 4
    flw \sum1, 4(\at)
    flw \sum2, 8(\at)
    flw \sum3, 12(\at)
    fmul.s \sum1, \sum1, ft0
    fmul.s \sum2, \sum2, ft0
    fmul.s \sum3, \sum3, ft0
    .endif
    add \at, \at, out_bytes
.endm

.macro store_sums lanes, at, sum0, sum1, sum2, sum3
    fsw \sum0, 0(\at)
    .if \lanes == 4
    fsw \sum1, 4(\at)
    fsw \sum2, 8(\at)
    fsw \sum3, 12(\at)
    .endif
    add \at, \at, out_bytes
.endm

/* The same sums once more, one at a time, from what is still in memory. */
.macro slowly count, lanes
    li index, 0
.Lslow_\count\()_\lanes:
    li weight, SCORE_ROW_BYTES               /* index counts sums: query, dimension */
    srli weight_end, index, 2
    mul weight, weight, weight_end
    add weight, weight, row
    mul weight_end, weight_end, out_bytes
    flw ft5, SCORE_ROW_FACTOR(weight)
    andi value, index, 3
    slli bits0, value, 2
    slli value, value, 1
    add value, value, column
    add bits3, weight_end, sums_at
    add bits3, bits3, bits0
    flw fa0, 0(bits3)
    add weight_end, weight, weight_bytes
    fmul.s fa0, fa0, ft5
.Lslow_step_\count\()_\lanes:
    widen_any value
    flw ft4, 0(weight)
    add value, value, value_bytes
    addi weight, weight, 4
    fmadd.s fa0, ft4, ft0, fa0
    bne weight, weight_end, .Lslow_step_\count\()_\lanes
    fsw fa0, 0(bits3)
    addi index, index, 5 - \lanes      /* the next dimension, or query */
    li weight, 4*\count
    bne index, weight, .Lslow_\count\()_\lanes
    j .Lnext_\count\()_\lanes
.endm

/* \lanes dimensions of \count queries. */
.macro accumulate_lanes count, lanes
    mv value, sums_at
    load_sums \lanes, 0, value, fa0, fa1, fa2, fa3
    .if \count > 1
    load_sums \lanes, 1, value, fa4, fa5, fa6, fa7
    .endif
    .if \count > 2
    load_sums \lanes, 2, value, ft8, ft9, ft10, ft11
    .endif
    mv value, column
    mv weight, row
    add weight_end, row, weight_bytes
    fsflagsi 0
    beq weight, weight_end, .Lstore_\count\()_\lanes
.Lstep_\count\()_\lanes:
    step \count, \lanes
    bne weight, weight_end, .Lstep_\count\()_\lanes
    frflags weight
    andi weight, weight, FLAG_OVERFLOW
    beqz weight, .Lstore_\count\()_\lanes
    slowly \count, \lanes
.Lstore_\count\()_\lanes:
    mv value, sums_at
    store_sums \lanes, value, fa0, fa1, fa2, fa3
    .if \count > 1
    store_sums \lanes, value, fa4, fa5, fa6, fa7
    .endif
    .if \count > 2
    store_sums \lanes, value, ft8, ft9, ft10, ft11
    .endif
.Lnext_\count\()_\lanes:
    addi sums_at, sums_at, 4*\lanes
    addi column, column, 2*\lanes
.endm

/* All dimensions of \count queries. */
.macro accumulate_queries count
    mv sums_at, out
    add sums_end, out, out_bytes
    mv column, values_at
.Lfours_\count:
    sub weight, sums_end, sums_at
    li weight_end, 16
    bltu weight, weight_end, .Lones_\count
    accumulate_lanes \count, 4
    j .Lfours_\count
.Lones_\count:
    beq sums_at, sums_end, .Lend_\count
    accumulate_lanes \count, 1
    j .Lones_\count
.Lend_\count:
    addi row, row, \count*SCORE_ROW_BYTES
    .rept \count
    add out, out, out_bytes
    .endr
    addi queries_left, queries_left, -\count
.endm

func accumulate_f32_f16_rv64gc
    push 32, s0, s1, s2, s3
    widen_start temp
    slli value_bytes, out_bytes, 1
    slli out_bytes, out_bytes, 2
    slli weight_bytes, weight_bytes, 2
    by_threes accumulate_queries, queries_left, temp, .Ldone
.Ldone:
    pop 32, s0, s1, s2, s3
    ret
endfunc
