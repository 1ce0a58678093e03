/* score_f32_f16 for RVV, with and without Zvfhmin.
 *
 * void score_f32_f16(struct score_row *restrict s, const float *restrict q,
 *                    const uint16_t *restrict k, size_t n_q, size_t n, size_t d)
 *
 * a0 s, a1 q, a2 k, a3 n_q, a4 n, a5 d. Clobbers a0-a2, a4-a7, t0-t6, ft0-ft3, fflags, v0-v31.
 *
 * A lane is a position: 8 registers of keys are widened once for three queries, whose scores
 * stay in 24 registers over all d dimensions. */
#ifndef INGOT_KERNELS_RISCV64_SCORE_F16_RVV_H
#define INGOT_KERNELS_RISCV64_SCORE_F16_RVV_H

#include "kernels/riscv64/f16_rvv.h"
#include "kernels/riscv64/queries.h"

#define rows_at a0     /* s, at the first position of these lanes */
#define queries a1
#define keys_at a2     /* as rows */
#define n_queries a3
#define positions_left a4
#define query_bytes a5 /* first the argument d */
#define key a6
#define queries_left a7
#define taken t0       /* while dimensions pass: a counter; vl has it */
#define temp t1
#define query0 t3
#define query1 t4
#define query2 t5
#define row t6

#define score0 v8      /* m8 each */
#define score1 v16
#define score2 v24

#define KEY_BYTES (2 * KV_TILE)  /* from a dimension to the next */

.macro score_dimension count, offset, zvfh
    widen_halves key, \zvfh
    flw ft1, \offset(query0)
    .if \count > 1
    flw ft2, \offset(query1)
    .endif
    .if \count > 2
    flw ft3, \offset(query2)
    .endif
    addi key, key, KEY_BYTES
    vfmacc.vf score0, ft1, wide
    .if \count > 1
    vfmacc.vf score1, ft2, wide
    .endif
    .if \count > 2
    vfmacc.vf score2, ft3, wide
    .endif
    flag_not_finite \zvfh
.endm

.macro next_dimensions count, bytes
    addi query0, query0, \bytes
    .if \count > 1
    addi query1, query1, \bytes
    .endif
    .if \count > 2
    addi query2, query2, \bytes
    .endif
.endm

/* \count queries from query0 on; query0 and row move past them. */
.macro score_queries count, zvfh
    vmv.v.i score0, 0
    .if \count > 1
    vmv.v.i score1, 0
    add query1, query0, query_bytes
    .endif
    .if \count > 2
    vmv.v.i score2, 0
    add query2, query1, query_bytes
    .endif
    mv key, keys_at
    add temp, query0, query_bytes
    andi taken, query_bytes, 12        /* dimensions beyond a multiple of four come first */
    beqz taken, .Lfours_\count
.Lone_\count:
    score_dimension \count, 0, \zvfh
    next_dimensions \count, 4
    addi taken, taken, -4
    bnez taken, .Lone_\count
.Lfours_\count:
    beq query0, temp, .Lstore_\count
.Lfour_\count:
    score_dimension \count, 0, \zvfh
    score_dimension \count, 4, \zvfh
    score_dimension \count, 8, \zvfh
    score_dimension \count, 12, \zvfh
    next_dimensions \count, 16
    bne query0, temp, .Lfour_\count
.Lstore_\count:
    vse32.v score0, (row)
    addi row, row, SCORE_ROW_BYTES
    .if \count > 1
    mv query0, query1
    vse32.v score1, (row)
    addi row, row, SCORE_ROW_BYTES
    .endif
    .if \count > 2
    mv query0, query2
    vse32.v score2, (row)
    addi row, row, SCORE_ROW_BYTES
    .endif
    addi queries_left, queries_left, -\count
.endm

/* All queries once more, one at a time, over the same positions. */
.macro score_slowly
    mv row, rows_at
    mv query0, queries
    mv queries_left, n_queries
.Lslow_query:
    vmv.v.i score2, 0
    mv key, keys_at
    add query1, query0, query_bytes
.Lslow_dimension:
    widen_any_halves key, temp
    flw ft1, 0(query0)
    addi key, key, KEY_BYTES
    addi query0, query0, 4
    vfmacc.vf score2, ft1, slow_wide
    bne query0, query1, .Lslow_dimension
    vse32.v score2, (row)
    addi row, row, SCORE_ROW_BYTES
    addi queries_left, queries_left, -1
    bnez queries_left, .Lslow_query
.endm

.macro score_f32_f16 zvfh
    widen_start temp
    slli query_bytes, query_bytes, 2
    beqz n_queries, .Ldone
    beqz positions_left, .Ldone
.Lpositions:
    vsetvli taken, positions_left, e32, m8, ta, mu
    mv row, rows_at
    mv query0, queries
    mv queries_left, n_queries
    fsflagsi 0
    by_threes score_queries, queries_left, temp, .Lchecked, \zvfh
.Lchecked:
    .if \zvfh == 0
    frflags temp
    andi temp, temp, FLAG_OVERFLOW
    beqz temp, .Lnext_positions
    score_slowly
.Lnext_positions:
    .endif
    csrr taken, vl
    sub positions_left, positions_left, taken
    slli temp, taken, 1
    add keys_at, keys_at, temp
    slli temp, taken, 2
    add rows_at, rows_at, temp
    bnez positions_left, .Lpositions
.Ldone:
.endm

#endif
