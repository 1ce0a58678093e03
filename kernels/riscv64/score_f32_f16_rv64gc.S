/* void score_f32_f16_rv64gc(struct score_row *restrict s, const float *restrict q,
 *                           const uint16_t *restrict k, size_t n_q, size_t n, size_t d)
 *
 * a0 s, a1 q, a2 k, a3 n_q, a4 n, a5 d. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa7, fflags; keeps
 * s0-s3 on the stack.
 *
 * Four positions are widened once for three queries: 44 instructions for their 12 products. An
 * infinite or NaN key makes these 12 sums go the slow way. */
#include "kernels/riscv64/f16_rv64gc.h"
#include "kernels/riscv64/queries.h"

#define row a0         /* of the first of these queries, at its first position */
#define query_start a1
#define keys_at a2
#define queries_left a3
#define n_positions a4
#define query_bytes a5 /* first the argument d */
#define key a6
#define query_end a7
#define query0 t0
#define temp t0        /* between queries */
#define query1 t1
#define query2 s0
#define key_start s1
#define positions_left s2
#define scores_at s3

#define KEY_BYTES (2 * KV_TILE)

.macro step count
    widen_lanes 4, key
    flw ft4, 0(query0)
    .if \count > 1
    flw ft5, 0(query1)
    addi query1, query1, 4
    .endif
    .if \count > 2
    flw ft6, 0(query2)
    addi query2, query2, 4
    .endif
    addi key, key, KEY_BYTES
    addi query0, query0, 4
    add_queries \count, 4
.endm

.macro store_four offset, sum0, sum1, sum2, sum3
    fsw \sum0, \offset(scores_at)
    fsw \sum1, \offset + 4(scores_at)
    fsw \sum2, \offset + 8(scores_at)
    fsw \sum3, \offset + 12(scores_at)
.endm

/* The same four positions of \count queries once more, one sum at a time. */
.macro slowly count
    li positions_left, 0
.Lslow_\count:
    andi query1, positions_left, 3     /* left counts sums: query, position */
    slli query1, query1, 1
    add key, key_start, query1
    srli query1, positions_left, 2
    mul query1, query1, query_bytes
    add query0, query_start, query1
    add query1, query0, query_bytes
    fmv.w.x fa0, zero
.Lslow_step_\count:
    widen_any key
    flw ft4, 0(query0)
    addi key, key, KEY_BYTES
    addi query0, query0, 4
    fmadd.s fa0, ft4, ft0, fa0
    bne query0, query1, .Lslow_step_\count
    srli query1, positions_left, 2
    li query0, SCORE_ROW_BYTES
    mul query1, query1, query0
    andi query0, positions_left, 3
    slli query0, query0, 2
    add query1, query1, query0
    add query1, query1, scores_at
    fsw fa0, 0(query1)
    addi positions_left, positions_left, 1
    li query1, 4*\count
    bne positions_left, query1, .Lslow_\count
    sub positions_left, scores_at, row /* what is left, from where we are */
    srli positions_left, positions_left, 2
    sub positions_left, n_positions, positions_left
    j .Lnext_\count
.endm

/* All positions of \count queries. */
.macro score_queries count
    mv scores_at, row
    mv key_start, keys_at
    mv positions_left, n_positions
.Lfour_\count:
    .irp sum, fa0, fa1, fa2, fa3, fa4, fa5, fa6, fa7, ft8, ft9, ft10, ft11
    fmv.w.x \sum, zero
    .endr
    mv key, key_start
    mv query0, query_start
    add query_end, query0, query_bytes
    .if \count > 1
    add query1, query0, query_bytes
    .endif
    .if \count > 2
    add query2, query1, query_bytes
    .endif
    fsflagsi 0
    beq query0, query_end, .Lstore_\count
.Lstep_\count:
    step \count
    bne query0, query_end, .Lstep_\count
    frflags query0
    andi query0, query0, FLAG_OVERFLOW
    beqz query0, .Lstore_\count
    slowly \count
.Lstore_\count:
    store_four 0, fa0, fa1, fa2, fa3
    .if \count > 1
    store_four SCORE_ROW_BYTES, fa4, fa5, fa6, fa7
    .endif
    .if \count > 2
    store_four 2*SCORE_ROW_BYTES, ft8, ft9, ft10, ft11
    .endif
.Lnext_\count:
    addi scores_at, scores_at, 16
    addi key_start, key_start, 8
    addi positions_left, positions_left, -4
    bnez positions_left, .Lfour_\count
    addi row, row, \count*SCORE_ROW_BYTES
    .rept \count
    add query_start, query_start, query_bytes
    .endr
    addi queries_left, queries_left, -\count
.endm

func score_f32_f16_rv64gc
    push 32, s0, s1, s2, s3
    widen_start temp
    slli query_bytes, query_bytes, 2
    beqz n_positions, .Ldone
    by_threes score_queries, queries_left, temp, .Ldone
.Ldone:
    pop 32, s0, s1, s2, s3
    ret
endfunc
