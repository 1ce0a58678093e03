/* gemv of f32 or fp16 rows for RVV, four rows at once so that x is loaded once for them.
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 ahead. Clobbers a0-a1, a3-a7, t0-t6, ft0-ft1, fa0-fa3,
 * fflags, v0-v31. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_ROWS_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_ROWS_RVV_H

#include "kernels/riscv64/matrix/dot16_rvv.h"

#define dst a0
#define row0 a1
#define act_start a2
#define rows_left a3
#define act_end a4     /* first the argument cols */
#define steps_end a5   /* end of x's whole steps */
#define act a6
#define row_bytes a7
#define row1 t0
#define row2 t1
#define row3 t2
#define slow_end t3
#define slow_left t4

/* Multiply one row by a step of x; the second macro multiplies it by a slice of 16. */
.macro row_step type, slices, row, sum
    load_step \type, \slices, \row
    addi \row, \row, 16*\slices*WEIGHT_BYTES
    multiply_step \slices, \sum
.endm

.macro row_slice type, slices, row, sum
    load_slice \type, \slices, \row
    addi \row, \row, 16*WEIGHT_BYTES
    vfmacc.vv \sum, weight_lanes, acts
    flag_slice \type
.endm

.macro each_row count, macro, type, slices
    \macro \type, \slices, row0, sum0
    .if \count > 1
    \macro \type, \slices, row1, sum1
    \macro \type, \slices, row2, sum2
    \macro \type, \slices, row3, sum3
    .endif
.endm

/* Compute y of \count rows (4 or 1); afterwards row0 is the next row. */
.macro gemv_rows count, type, slices
    set_lanes \slices
    .irp sum, v16, v20, v24, v28
    vmv.v.i \sum, 0
    .endr
    .if \count > 1
    add row1, row0, row_bytes
    add row2, row1, row_bytes
    add row3, row2, row_bytes
    .endif
    mv act, act_start
    clear_pending \type, \slices
    .if \slices > 1
    beq act, steps_end, .Lslices_\count\()_\slices
.Lstep_\count\()_\slices:
    vl8re32.v acts, (act)
    addi act, act, 64*\slices
    each_row \count, row_step, \type, \slices
    bne act, steps_end, .Lstep_\count\()_\slices
    flag_pending \type, \slices
.Lslices_\count\()_\slices:
    .endif
    beq act, act_end, .Lcheck_\count\()_\slices
.Lslice_\count\()_\slices:
    vle32.v acts, (act)
    addi act, act, 64
    each_row \count, row_slice, \type, \slices
    bne act, act_end, .Lslice_\count\()_\slices
.Lcheck_\count\()_\slices:
    branch_if_finite \type, .Lfold_\count\()_\slices
    .ifc \type, f16
    sub row0, row0, row_bytes          /* compute these rows again, one at a time */
    li slow_left, \count
.Lslow_\count\()_\slices:
    mv act, act_start
    add slow_end, row0, row_bytes
    slow_dot fa0, row0, slow_end, act
    fsw fa0, 0(dst)
    addi dst, dst, 4
    addi slow_left, slow_left, -1
    bnez slow_left, .Lslow_\count\()_\slices
    j .Lnext_\count\()_\slices
    .endif
.Lfold_\count\()_\slices:
    fold_16_lanes fa0, sum0, v0
    fsw fa0, 0(dst)
    .if \count > 1
    fold_16_lanes fa1, sum1, v4
    fold_16_lanes fa2, sum2, v8
    fold_16_lanes fa3, sum3, v12
    fsw fa1, 4(dst)
    fsw fa2, 8(dst)
    fsw fa3, 12(dst)
    mv row0, row3
    .endif
    addi dst, dst, 4*\count
.Lnext_\count\()_\slices:
    addi rows_left, rows_left, -\count
.endm

.macro all_rows type, slices
    srli temp, act_end, 4 + (\slices / 2)
    slli temp, temp, 6 + (\slices / 2)
    add steps_end, temp, act_start
    slli act_end, act_end, 2
    add act_end, act_end, act_start
.Lfour_\slices:
    li temp, 4
    bltu rows_left, temp, .Lone_\slices
    gemv_rows 4, \type, \slices
    j .Lfour_\slices
.Lone_\slices:
    beqz rows_left, .Ldone
    gemv_rows 1, \type, \slices
    j .Lone_\slices
.endm

.macro gemv type
    widen_constants \type
    li row_bytes, WEIGHT_BYTES
    mul row_bytes, row_bytes, act_end
    all_rows_by_vlen \type
.endm

#endif
