/* void accumulate_f32_q8_rvv(float *restrict o, const struct score_row *restrict s,
 *                            const void *restrict v, size_t n_q, size_t n, size_t d)
 *
 * a0 o, a1 s, a2 v, a3 n_q, a4 n, a5 d. Clobbers a0, a2, a4-a7, t0-t6, ft0-ft3, v0-v31; keeps
 * s0-s2 on the stack.
 *
 * A lane is one of 32 dimensions, which share a scale; values are widened once for three queries. A
 * position, 32 dimensions and three queries take 17 instructions. */
#include "kernels/riscv64/asm.h"
#include "kernels/riscv64/attention/queries.h"

#define outs a0        /* o, at these dimensions */
#define rows_at a1
#define scales_at a2   /* as outs */
#define n_queries a3
#define weight_bytes a4 /* first the argument n */
#define blocks_left a5 /* first the argument d */
#define value a6
#define value_bytes a7 /* of a position */
#define scale t0
#define temp t1
#define weight_end t2
#define weight t3
#define out0 t4
#define row t5
#define queries_left t6
#define values_at s0   /* as outs */
#define scale_bytes s1 /* of a position */
#define out_bytes s2

#define wide v0        /* m8; int8 are loaded into its upper quarter */
#define packed v6
#define sum0 v8
#define sum1 v16
#define sum2 v24

.macro add_query offset, weight_scaled, sum
    flw \weight_scaled, \offset(weight)
    fmul.s \weight_scaled, \weight_scaled, ft0
    vfmacc.vf \sum, \weight_scaled, wide
.endm

.macro start_sum sum, index, at
    flw ft1, \index*SCORE_ROW_BYTES + SCORE_ROW_FACTOR(row)
    vle32.v \sum, (\at)
    add \at, \at, out_bytes
    vfmul.vf \sum, \sum, ft1
.endm

.macro store_sum sum
    vse32.v \sum, (out0)
    add out0, out0, out_bytes
.endm

/* Compute \count queries from row and out0 on; both move past them. */
.macro accumulate_queries count
    mv temp, out0
    start_sum sum0, 0, temp
    .if \count > 1
    start_sum sum1, 1, temp
    .endif
    .if \count > 2
    start_sum sum2, 2, temp
    .endif
    mv weight, row
    add weight_end, row, weight_bytes
    mv value, values_at
    mv scale, scales_at
    beq weight, weight_end, .Lstore_\count
.Lposition_\count:
    vle8.v packed, (value)
    flw ft0, 0(scale)
    vsext.vf4 wide, packed
    add value, value, value_bytes
    add scale, scale, scale_bytes
    vfcvt.f.x.v wide, wide
    add_query 0, ft1, sum0
    .if \count > 1
    add_query SCORE_ROW_BYTES, ft2, sum1
    .endif
    .if \count > 2
    add_query 2*SCORE_ROW_BYTES, ft3, sum2
    .endif
    addi weight, weight, 4
    bne weight, weight_end, .Lposition_\count
.Lstore_\count:
    store_sum sum0
    .if \count > 1
    store_sum sum1
    .endif
    .if \count > 2
    store_sum sum2
    .endif
    addi row, row, \count*SCORE_ROW_BYTES
    addi queries_left, queries_left, -\count
.endm

func accumulate_f32_q8_rvv, v
    push 32, s0, s1, s2
    mv value_bytes, blocks_left
    slli out_bytes, value_bytes, 2
    srli blocks_left, value_bytes, 5
    slli scale_bytes, blocks_left, 2
    slli values_at, blocks_left, 8     /* the scales of 64 positions */
    add values_at, values_at, scales_at
    slli weight_bytes, weight_bytes, 2
    li temp, 32
    vsetvli zero, temp, e32, m8, ta, ma
    beqz blocks_left, .Ldone
.Lblock:
    mv out0, outs
    mv row, rows_at
    mv queries_left, n_queries
    by_threes accumulate_queries, queries_left, temp, .Lnext
.Lnext:
    addi outs, outs, 128
    addi scales_at, scales_at, 4
    addi values_at, values_at, 32
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    pop 32, s0, s1, s2
    ret
endfunc
