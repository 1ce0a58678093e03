/* void score_f32_q8_rvv(struct score_row *restrict s, const struct block_q8 *restrict q,
 *                       const void *restrict k, size_t n_q, size_t n, size_t d)
 *
 * a0 s, a1 q, a2 k, a3 n_q, a4 n, a5 d. Clobbers a0, a2, a4-a7, t0-t6, ft0, v0-v27; saves s0-s5 on
 * the stack.
 *
 * A lane is a position. A segment load separates 4 dimensions of 4 registers of positions; they are
 * widened to int16 once for three queries, whose products go to 12 registers of int32. Between
 * blocks of 32 dimensions, the sums are kept in s. 4 dimensions of 4 registers of positions take 33
 * instructions for three queries. */
#include "kernels/riscv64/asm.h"
#include "kernels/riscv64/attention/queries.h"

#define rows_at a0     /* points to s, at the first position of these lanes */
#define queries a1
#define scales_at a2   /* as rows_at */
#define n_queries a3
#define positions_left a4
#define query_bytes a5 /* first the argument d */
#define key a6
#define scale a7
#define taken t0
#define temp t1
#define element0 t2          /* elements of the queries */
#define query0 t3
#define query1 t4
#define query2 t5
#define row t6
#define queries_left s0
#define keys_at s1     /* as rows_at */
#define query_end s2
#define element1 s3
#define element2 s4
#define key_end s5     /* of a block */
#define query_scale ft0

#define packed v0      /* 4 fields of int8, m1 */
#define field0 v8      /* int16, m2 */
#define field1 v10
#define field2 v12
#define field3 v14
#define dots0 v16      /* int32, m4 */
#define dots1 v20
#define dots2 v24
#define key_scales v0  /* m4 each, after a block */
#define both_scales v4
#define sums v8

#define KEY_BYTES (4 * KV_TILE) /* bytes of 4 dimensions of all positions */

.macro dimension count, index, field
    lb element0, \index(query0)
    .if \count > 1
    lb element1, \index(query1)
    .endif
    .if \count > 2
    lb element2, \index(query2)
    .endif
    vwmacc.vx dots0, element0, \field
    .if \count > 1
    vwmacc.vx dots1, element1, \field
    .endif
    .if \count > 2
    vwmacc.vx dots2, element2, \field
    .endif
.endm

.macro next_queries count, bytes
    addi query0, query0, \bytes
    .if \count > 1
    addi query1, query1, \bytes
    .endif
    .if \count > 2
    addi query2, query2, \bytes
    .endif
.endm

/* s = fma((float)dots, scale * q.d, s); \query points past q[] of its block. */
.macro finish query, dots, offset
    flw query_scale, 0(\query)
    addi temp, row, \offset
    vfcvt.f.x.v \dots, \dots
    vfmul.vf both_scales, key_scales, query_scale
    vle32.v sums, (temp)
    vfmacc.vv sums, \dots, both_scales
    vse32.v sums, (temp)
.endm

.macro clear_sums offset
    addi temp, row, \offset
    vse32.v sums, (temp)
.endm

/* Compute \count queries from query0 and row on; both move past them. */
.macro score_queries count
    vmv.v.i sums, 0
    clear_sums 0
    .if \count > 1
    clear_sums SCORE_ROW_BYTES
    add query1, query0, query_bytes
    .endif
    .if \count > 2
    clear_sums 2*SCORE_ROW_BYTES
    add query2, query1, query_bytes
    .endif
    add query_end, query0, query_bytes
    mv key, keys_at
    mv scale, scales_at
    beq query0, query_end, .Lnext_\count
.Lblock_\count:
    vmv.v.i dots0, 0
    .if \count > 1
    vmv.v.i dots1, 0
    .endif
    .if \count > 2
    vmv.v.i dots2, 0
    .endif
    addi key_end, key, 4*KEY_BYTES
    addi key_end, key_end, 4*KEY_BYTES
    vsetvli zero, zero, e16, m2, ta, ma
.Ldimensions_\count:
    vlseg4e8.v packed, (key)
    addi key, key, KEY_BYTES
    vsetvli temp, zero, e16, m8, ta, ma
    vsext.vf2 field0, packed           /* all four fields */
    vsetvli zero, taken, e16, m2, ta, ma
    dimension \count, 0, field0
    dimension \count, 1, field1
    dimension \count, 2, field2
    dimension \count, 3, field3
    next_queries \count, 4
    bne key, key_end, .Ldimensions_\count
    vsetvli zero, zero, e32, m4, ta, ma
    vle32.v key_scales, (scale)
    addi scale, scale, KEY_BYTES
    finish query0, dots0, 0
    .if \count > 1
    finish query1, dots1, SCORE_ROW_BYTES
    .endif
    .if \count > 2
    finish query2, dots2, 2*SCORE_ROW_BYTES
    .endif
    next_queries \count, Q8_BYTES - Q8_SCALE
    bne query0, query_end, .Lblock_\count
.Lnext_\count:
    .if \count > 1
    mv query0, query1
    .endif
    .if \count > 2
    mv query0, query2
    .endif
    addi row, row, \count*SCORE_ROW_BYTES
    addi queries_left, queries_left, -\count
.endm

func score_f32_q8_rvv, v
    push 48, s0, s1, s2, s3, s4, s5
    srli temp, query_bytes, 5          /* blocks */
    li query_bytes, Q8_BYTES
    mul query_bytes, query_bytes, temp
    slli keys_at, temp, 8
    add keys_at, keys_at, scales_at
    beqz positions_left, .Ldone
.Lpositions:
    vsetvli taken, positions_left, e32, m4, ta, ma
    mv row, rows_at
    mv query0, queries
    mv queries_left, n_queries
    by_threes score_queries, queries_left, temp, .Lnext
.Lnext:
    slli temp, taken, 2
    add rows_at, rows_at, temp
    add scales_at, scales_at, temp
    add keys_at, keys_at, temp
    sub positions_left, positions_left, taken
    bnez positions_left, .Lpositions
.Ldone:
    pop 48, s0, s1, s2, s3, s4, s5
    ret
endfunc
