/* Products of f32 or fp16 rows with f32 in 16 lanes, without vectors. A weight is loaded and
 * widened once for three tokens. Four lanes of each token are computed at a time, so a row is read
 * four times. a0 y, a1 w, a2 x, a3 struct gemm_shape. Clobbers a0-a1, a3-a7, t0-t6, ft0-ft11,
 * fa0-fa7, fflags; saves s0-s8 on the stack, with the lanes below them. \type is f32 or f16.
 * Infinities and NaN take the slow path, as in f16_rv64gc.h. */
#ifndef INGOT_KERNELS_RISCV64_DOT16_RV64GC_H
#define INGOT_KERNELS_RISCV64_DOT16_RV64GC_H

#include "kernels/riscv64/matrix/f16_rv64gc.h"

#define dst a0         /* y of this row */
#define row a1
#define act_start a2
#define rows_left a3
#define row_bytes a4
#define n_tokens a5
#define y_bytes a6     /* bytes from a token to the next */
#define x_bytes a7
#define weight t0
#define temp t0        /* between tokens */
#define weight_end t1
#define act0 s0
#define act1 s1
#define act2 s2
#define row_end s3
#define tokens_left s4
#define out s5
#define first_act s6   /* of these tokens */
#define lane s7        /* byte offset in x of the first of four lanes: 0, 16, 32, 48 */
#define lanes_at s8

#define LANES_BYTES 192 /* of three tokens */

.macro load_weights type
    .ifc \type, f32
    flw ft0, 0(weight)
    flw ft1, 4(weight)
    flw ft2, 8(weight)
    flw ft3, 12(weight)
    .else
    widen_lanes 4, weight
    .endif
.endm

.macro add_token act, sum0, sum1, sum2, sum3
    flw ft4, 0(\act)
    flw ft5, 4(\act)
    flw ft6, 8(\act)
    fmadd.s \sum0, ft0, ft4, \sum0
    flw ft4, 12(\act)
    addi \act, \act, 64
    fmadd.s \sum1, ft1, ft5, \sum1
    fmadd.s \sum2, ft2, ft6, \sum2
    fmadd.s \sum3, ft3, ft4, \sum3
.endm

.macro store_token index, sum0, sum1, sum2, sum3
    fsw \sum0, 64*\index(lanes_at)
    fsw \sum1, 64*\index + 4(lanes_at)
    fsw \sum2, 64*\index + 8(lanes_at)
    fsw \sum3, 64*\index + 12(lanes_at)
.endm

/* Compute four lanes of \count tokens, and store them to the frame. */
.macro four_lanes count, type
    .irp sum, fa0, fa1, fa2, fa3, fa4, fa5, fa6, fa7, ft8, ft9, ft10, ft11
    fmv.w.x \sum, zero
    .endr
    add act0, first_act, lane
    .if \count == 3
    add act1, act0, x_bytes
    add act2, act1, x_bytes
    .endif
    srli weight, lane, 2 - WEIGHT_BYTES / 2
    add weight_end, row_end, weight
    add weight, weight, row
    beq weight, weight_end, .Lstore_\count
.Lstep_\count:
    load_weights \type
    addi weight, weight, 16*WEIGHT_BYTES
    add_token act0, fa0, fa1, fa2, fa3
    .if \count == 3
    add_token act1, fa4, fa5, fa6, fa7
    add_token act2, ft8, ft9, ft10, ft11
    .endif
    .ifc \type, f16
    fmul.s ft0, ft0, scale_up
    fmul.s ft1, ft1, scale_up
    fmul.s ft2, ft2, scale_up
    fmul.s ft3, ft3, scale_up
    .endif
    bne weight, weight_end, .Lstep_\count
.Lstore_\count:
    store_token 0, fa0, fa1, fa2, fa3
    .if \count == 3
    store_token 1, fa4, fa5, fa6, fa7
    store_token 2, ft8, ft9, ft10, ft11
    .endif
.endm

/* Compute all lanes of \count tokens again, one at a time; `lane` counts bytes of the frame. */
.macro slow_lanes count
    li lane, 0
.Lslow_\count:
    srli act0, lane, 6
    mul act0, act0, x_bytes
    andi weight, lane, 63
    add act0, act0, weight
    add act0, act0, first_act
    srli weight, weight, 1
    add weight_end, weight, row_end
    add weight, weight, row
    fmv.w.x fa0, zero
.Lslow_step_\count:
    widen_any weight
    flw ft4, 0(act0)
    addi weight, weight, 32
    addi act0, act0, 64
    fmadd.s fa0, ft0, ft4, fa0
    bne weight, weight_end, .Lslow_step_\count
    add weight, sp, lane
    fsw fa0, 0(weight)
    addi lane, lane, 4
    li weight, 64*\count
    bne lane, weight, .Lslow_\count
.endm

/* Fold the lanes of a token to y. */
.macro fold_token index
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    flw fa\n, 64*\index + 4*\n(sp)
    .endr
    .irp n, 0, 1, 2, 3
    flw ft\n, 64*\index + 32 + 4*\n(sp)
    fadd.s fa\n, fa\n, ft\n
    .endr
    flw ft0, 64*\index + 48(sp)
    flw ft1, 64*\index + 52(sp)
    flw ft2, 64*\index + 56(sp)
    flw ft3, 64*\index + 60(sp)
    fadd.s fa4, fa4, ft0
    fadd.s fa5, fa5, ft1
    fadd.s fa6, fa6, ft2
    fadd.s fa7, fa7, ft3
    fadd.s fa0, fa0, fa4
    fadd.s fa1, fa1, fa5
    fadd.s fa2, fa2, fa6
    fadd.s fa3, fa3, fa7
    fadd.s fa0, fa0, fa2
    fadd.s fa1, fa1, fa3
    fadd.s fa0, fa0, fa1
    fsw fa0, 0(out)
    add out, out, y_bytes
    add first_act, first_act, x_bytes
.endm

.macro dot_tokens count, type
    li lane, 0
    mv lanes_at, sp
    fsflagsi 0
.Lfour_lanes_\count:
    four_lanes \count, \type
    addi lane, lane, 16
    addi lanes_at, lanes_at, 16
    li weight, 64
    bne lane, weight, .Lfour_lanes_\count
    .ifc \type, f16
    frflags weight
    andi weight, weight, FLAG_OVERFLOW
    beqz weight, .Lfold_\count
    slow_lanes \count
.Lfold_\count:
    .endif
    fold_token 0
    .if \count == 3
    fold_token 1
    fold_token 2
    .endif
    addi tokens_left, tokens_left, -\count
.endm

/* Load rows into rows_left, cols into row_bytes, and the rest of the shape as named. */
.macro dot_rows type
    push 80, s0, s1, s2, s3, s4, s5, s6, s7, s8
    addi sp, sp, -LANES_BYTES
    .cfi_adjust_cfa_offset LANES_BYTES
    widen_start temp
    li temp, WEIGHT_BYTES
    mul row_bytes, row_bytes, temp
    slli y_bytes, y_bytes, 2
    slli x_bytes, x_bytes, 2
    beqz rows_left, .Ldone
.Lrow:
    add row_end, row, row_bytes
    mv tokens_left, n_tokens
    mv first_act, act_start
    mv out, dst
.Lthree:
    li temp, 3
    bltu tokens_left, temp, .Lone
    dot_tokens 3, \type
    j .Lthree
.Lone:
    beqz tokens_left, .Lnext
    dot_tokens 1, \type
    j .Lone
.Lnext:
    mv row, row_end
    addi dst, dst, 4
    addi rows_left, rows_left, -1
    bnez rows_left, .Lrow
.Ldone:
    addi sp, sp, LANES_BYTES
    .cfi_adjust_cfa_offset -LANES_BYTES
    pop 80, s0, s1, s2, s3, s4, s5, s6, s7, s8
.endm

.macro load_shape
    ld row_bytes, SHAPE_COLS(rows_left)
    ld n_tokens, SHAPE_TOKENS(rows_left)
    ld y_bytes, SHAPE_Y_STRIDE(rows_left)
    ld x_bytes, SHAPE_X_STRIDE(rows_left)
    ld rows_left, SHAPE_ROWS(rows_left)
.endm

#endif
