/* score_f32_f16 for RVV, with and without Zvfhmin.
 *
 * void score_f32_f16(struct score_row *restrict s, const float *restrict q,
 *                    const uint16_t *restrict k, size_t n_q, size_t n, size_t d)
 *
 * a0 s, a1 q, a2 k, a3 n_q, a4 n, a5 d. Clobbers a0-a2, a4-a7, t0-t6, ft0-ft3, fflags, v0-v31; with
 * more than three queries saves s0-s5, and uses 8.1 KiB of stack.
 *
 * A lane is a position: 8 registers of keys are widened once for three queries, whose scores stay in
 * 24 registers over all d dimensions. With more queries, the first three save the widened keys on the
 * stack, for as many dimensions at a time as fit, and other queries read them there. */
#ifndef INGOT_KERNELS_RISCV64_SCORE_F16_RVV_H
#define INGOT_KERNELS_RISCV64_SCORE_F16_RVV_H

#include "kernels/riscv64/vector/f16_rvv.h"
#include "kernels/riscv64/attention/queries.h"

#define rows_at a0     /* points to s, at the first position of these lanes */
#define queries a1
#define keys_at a2     /* as rows_at */
#define n_queries a3
#define positions_left a4
#define query_bytes a5 /* first the argument d */
#define key a6
#define queries_left a7
#define taken t0       /* lanes taken, as vl; in the loop over dimensions, a counter */
#define temp t1
#define query0 t3
#define query1 t4
#define query2 t5
#define row t6
#define kept_at s0     /* with more than three queries: the widened keys on the stack */
#define kept_step s1   /* bytes of a dimension's widened keys */
#define chunk_bytes s2 /* bytes of a query's numbers for the dimensions that are on the stack */
#define query_skip s3  /* bytes of a query's other dimensions */
#define chunk_key s4   /* keys of the first of the dimensions on the stack */
#define chunk_query s5 /* the first query's numbers for these dimensions */

#define score0 v8      /* m8 each */
#define score1 v16
#define score2 v24

#define KEY_BYTES (2 * KV_TILE)  /* bytes from a dimension to the next */

/* how: load (from the keys), keep (load and save), kept (from the saved ones). */
.macro score_dimension count, offset, zvfh, how
    .ifc \how, kept
    vle32.v wide, (kept_at)
    .else
    widen_halves key, \zvfh
    .endif
    flw ft1, \offset(query0)
    .if \count > 1
    flw ft2, \offset(query1)
    .endif
    .if \count > 2
    flw ft3, \offset(query2)
    .endif
    .ifc \how, keep
    vse32.v wide, (kept_at)
    .endif
    .ifc \how, load
    addi key, key, KEY_BYTES
    .else
    add kept_at, kept_at, kept_step
    .ifc \how, keep
    addi key, key, KEY_BYTES
    .endif
    .endif
    vfmacc.vf score0, ft1, wide
    .if \count > 1
    vfmacc.vf score1, ft2, wide
    .endif
    .if \count > 2
    vfmacc.vf score2, ft3, wide
    .endif
    .ifnc \how, kept
    flag_not_finite \zvfh
    .endif
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

/* Start from zero, or from the sums over earlier dimensions. */
.macro start_scores count, how
    vmv.v.i score0, 0
    .if \count > 1
    vmv.v.i score1, 0
    .endif
    .if \count > 2
    vmv.v.i score2, 0
    .endif
    .ifnc \how, load
    beq chunk_query, queries, .Lfirst_\how\()_\count
    vle32.v score0, (row)
    .if \count > 1
    addi temp, row, SCORE_ROW_BYTES
    vle32.v score1, (temp)
    .endif
    .if \count > 2
    addi temp, row, 2*SCORE_ROW_BYTES
    vle32.v score2, (temp)
    .endif
.Lfirst_\how\()_\count:
    mv kept_at, sp
    .endif
.endm

/* Compute \count queries from query0 on; query0 and row move past them. */
.macro score_queries count, zvfh, how
    start_scores \count, \how
    .if \count > 1
    add query1, query0, query_bytes
    .endif
    .if \count > 2
    add query2, query1, query_bytes
    .endif
    .ifc \how, load
    mv key, keys_at
    add temp, query0, query_bytes
    andi taken, query_bytes, 12        /* dimensions beyond a multiple of four come first */
    .else
    add temp, query0, chunk_bytes
    andi taken, chunk_bytes, 12
    .endif
    beqz taken, .Lfours_\how\()_\count
.Lone_\how\()_\count:
    score_dimension \count, 0, \zvfh, \how
    next_dimensions \count, 4
    addi taken, taken, -4
    bnez taken, .Lone_\how\()_\count
.Lfours_\how\()_\count:
    beq query0, temp, .Lstore_\how\()_\count
.Lfour_\how\()_\count:
    score_dimension \count, 0, \zvfh, \how
    score_dimension \count, 4, \zvfh, \how
    score_dimension \count, 8, \zvfh, \how
    score_dimension \count, 12, \zvfh, \how
    next_dimensions \count, 16
    bne query0, temp, .Lfour_\how\()_\count
.Lstore_\how\()_\count:
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
    .ifnc \how, load
    add query0, query0, query_skip
    .endif
    addi queries_left, queries_left, -\count
.endm

/* Compute all queries again for the same positions, one query at a time. */
.macro score_slowly
    mv row, rows_at
    mv query0, queries
    mv queries_left, n_queries
.Lslow_query\@:
    vmv.v.i score2, 0
    mv key, keys_at
    add query1, query0, query_bytes
.Lslow_dimension\@:
    widen_any_halves key, temp
    flw ft1, 0(query0)
    addi key, key, KEY_BYTES
    addi query0, query0, 4
    vfmacc.vf score2, ft1, slow_wide
    bne query0, query1, .Lslow_dimension\@
    vse32.v score2, (row)
    addi row, row, SCORE_ROW_BYTES
    addi queries_left, queries_left, -1
    bnez queries_left, .Lslow_query\@
.endm

/* Branch to \slow if a widened key was not finite. */
.macro check_finite zvfh, slow
    .if \zvfh == 0
    frflags temp
    andi temp, temp, FLAG_OVERFLOW
    bnez temp, \slow
    .endif
.endm

/* Move to the next positions; go to \again if there are any. */
.macro next_positions again
    csrr taken, vl
    sub positions_left, positions_left, taken
    slli temp, taken, 1
    add keys_at, keys_at, temp
    slli temp, taken, 2
    add rows_at, rows_at, temp
    bnez positions_left, \again
.endm

.macro score_few zvfh
.Lpositions:
    vsetvli taken, positions_left, e32, m8, ta, mu
    mv row, rows_at
    mv query0, queries
    mv queries_left, n_queries
    fsflagsi 0
    by_threes score_queries, queries_left, temp, .Lchecked, \zvfh, load
.Lchecked:
    .if \zvfh == 0
    check_finite \zvfh, .Lslowly
.Lnext_positions:
    .endif
    next_positions .Lpositions
    j .Ldone
    .if \zvfh == 0
.Lslowly:
    score_slowly
    j .Lnext_positions
    .endif
.endm

/* Compute more than three queries. */
.macro score_many zvfh
    push 48, s0, s1, s2, s3, s4, s5
    push_kept temp
.Lmany_positions:
    vsetvli taken, positions_left, e32, m8, ta, mu
    slli kept_step, taken, 2
    mv chunk_query, queries
    mv chunk_key, keys_at
.Lchunk:
    kept_depth chunk_bytes, kept_step
    slli chunk_bytes, chunk_bytes, 2
    add temp, queries, query_bytes
    sub temp, temp, chunk_query        /* remaining bytes of a query */
    bleu chunk_bytes, temp, .Lchunk_fits
    mv chunk_bytes, temp
.Lchunk_fits:
    sub query_skip, query_bytes, chunk_bytes
    mv row, rows_at
    mv query0, chunk_query
    mv queries_left, n_queries
    mv key, chunk_key
    fsflagsi 0
    score_queries 3, \zvfh, keep
    mv chunk_key, key
    check_finite \zvfh, .Lmany_slowly
    by_threes score_queries, queries_left, temp, .Lnext_chunk, \zvfh, kept
.Lnext_chunk:
    add chunk_query, chunk_query, chunk_bytes
    sub temp, chunk_query, queries
    bne temp, query_bytes, .Lchunk
.Lmany_next_positions:
    next_positions .Lmany_positions
    .if \zvfh == 0
    j .Lmany_done
.Lmany_slowly:
    score_slowly
    j .Lmany_next_positions
.Lmany_done:
    .endif
    pop_kept temp
    pop 48, s0, s1, s2, s3, s4, s5
.endm

.macro score_f32_f16 zvfh
    widen_start temp
    slli query_bytes, query_bytes, 2
    beqz n_queries, .Ldone
    beqz positions_left, .Ldone
    li temp, 3
    bgtu n_queries, temp, .Lmany
    score_few \zvfh
.Lmany:
    score_many \zvfh
.Ldone:
.endm

#endif
