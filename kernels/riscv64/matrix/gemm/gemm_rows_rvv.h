/* gemm of f32 or fp16 rows for RVV: a row is loaded, and widened, once for four tokens.
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a1, a3-a7, t0-t6, ft0-ft1, fa0-fa3, fflags, v0-v31; saves
 * s0-s5 on the stack. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_ROWS_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_ROWS_RVV_H

#include "kernels/riscv64/matrix/dot16_rvv.h"

#define dst a0         /* y of this row */
#define row a1
#define act_start a2
#define rows_left a3   /* first the argument shape */
#define row_bytes a4
#define n_tokens a5
#define y_bytes a6     /* bytes from a token to the next */
#define x_bytes a7
#define act0 t0
#define act1 t1
#define act2 t2
#define act3 t3
#define weight t4
#define tokens_left s0
#define out s1
#define steps_end s2   /* end of the row's whole steps */
#define row_end s3
#define first_act s4   /* of these tokens */
#define slow_left s5

.macro token_step slices, act, sum
    vl8re32.v acts, (\act)
    addi \act, \act, 64*\slices
    multiply_step \slices, \sum
.endm

.macro token_slice slices, act, sum
    vle32.v acts, (\act)
    addi \act, \act, 64
    vfmacc.vv \sum, weight_lanes, acts
.endm

.macro each_token count, macro, slices
    \macro \slices, act0, sum0
    .if \count > 1
    \macro \slices, act1, sum1
    \macro \slices, act2, sum2
    \macro \slices, act3, sum3
    .endif
.endm

/* Compute y of \count tokens (4 or 1) from first_act and out on, which advance. */
.macro gemm_tokens count, type, slices
    set_lanes \slices
    .irp sum, v16, v20, v24, v28
    vmv.v.i \sum, 0
    .endr
    mv act0, first_act
    .if \count > 1
    add act1, act0, x_bytes
    add act2, act1, x_bytes
    add act3, act2, x_bytes
    .endif
    mv weight, row
    clear_pending \type, \slices
    .if \slices > 1
    beq weight, steps_end, .Lslices_\count\()_\slices
.Lstep_\count\()_\slices:
    load_step \type, \slices, weight
    addi weight, weight, 16*\slices*WEIGHT_BYTES
    each_token \count, token_step, \slices
    bne weight, steps_end, .Lstep_\count\()_\slices
    flag_pending \type, \slices
.Lslices_\count\()_\slices:
    .endif
    beq weight, row_end, .Lcheck_\count\()_\slices
.Lslice_\count\()_\slices:
    load_slice \type, \slices, weight
    addi weight, weight, 16*WEIGHT_BYTES
    each_token \count, token_slice, \slices
    flag_slice \type
    bne weight, row_end, .Lslice_\count\()_\slices
.Lcheck_\count\()_\slices:
    branch_if_finite \type, .Lfold_\count\()_\slices
    .ifc \type, f16
    li slow_left, \count               /* compute these tokens again, one at a time */
.Lslow_\count\()_\slices:
    mv weight, row
    mv act0, first_act
    slow_dot fa0, weight, row_end, act0
    fsw fa0, 0(out)
    add out, out, y_bytes
    add first_act, first_act, x_bytes
    addi slow_left, slow_left, -1
    bnez slow_left, .Lslow_\count\()_\slices
    j .Lnext_\count\()_\slices
    .endif
.Lfold_\count\()_\slices:
    fold_16_lanes fa0, sum0, v0
    fsw fa0, 0(out)
    add out, out, y_bytes
    add first_act, first_act, x_bytes
    .if \count > 1
    fold_16_lanes fa1, sum1, v4
    fold_16_lanes fa2, sum2, v8
    fold_16_lanes fa3, sum3, v12
    fsw fa1, 0(out)
    add out, out, y_bytes
    fsw fa2, 0(out)
    add out, out, y_bytes
    fsw fa3, 0(out)
    add out, out, y_bytes
    slli temp, x_bytes, 1
    add first_act, first_act, temp
    add first_act, first_act, x_bytes
    .endif
.Lnext_\count\()_\slices:
    addi tokens_left, tokens_left, -\count
.endm

/* steps_end advances with row. */
.macro all_rows type, slices
    li temp, 16*\slices*WEIGHT_BYTES
    remu steps_end, row_bytes, temp
    sub steps_end, row_bytes, steps_end
    add steps_end, steps_end, row
.Lrow_\slices:
    add row_end, row, row_bytes
    mv tokens_left, n_tokens
    mv first_act, act_start
    mv out, dst
.Lfour_\slices:
    li temp, 4
    bltu tokens_left, temp, .Lone_\slices
    gemm_tokens 4, \type, \slices
    j .Lfour_\slices
.Lone_\slices:
    beqz tokens_left, .Lnext_\slices
    gemm_tokens 1, \type, \slices
    j .Lone_\slices
.Lnext_\slices:
    mv row, row_end
    add steps_end, steps_end, row_bytes
    addi dst, dst, 4
    addi rows_left, rows_left, -1
    bnez rows_left, .Lrow_\slices
    j .Ldone
.endm

.macro gemm type
    push 48, s0, s1, s2, s3, s4, s5
    widen_constants \type
    ld temp, SHAPE_COLS(rows_left)     /* cols */
    ld n_tokens, SHAPE_TOKENS(rows_left)
    ld y_bytes, SHAPE_Y_STRIDE(rows_left)
    ld x_bytes, SHAPE_X_STRIDE(rows_left)
    ld rows_left, SHAPE_ROWS(rows_left)
    li row_bytes, WEIGHT_BYTES
    mul row_bytes, row_bytes, temp
    slli y_bytes, y_bytes, 2
    slli x_bytes, x_bytes, 2
    beqz rows_left, .Ldone
    all_rows_by_vlen \type
    pop 48, s0, s1, s2, s3, s4, s5
.endm

#endif
