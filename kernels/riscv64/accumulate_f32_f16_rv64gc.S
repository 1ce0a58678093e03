/* void accumulate_f32_f16_rv64gc(float *restrict o, const float *restrict p,
 *                                const uint16_t *restrict v, size_t n, size_t d)
 *
 * a0 o, a1 p, a2 v, a3 n, a4 d. Clobbers a0, a2-a7, t0-t6, ft8-ft11, fa0-fa7; keeps fs0-fs5
 * on the stack.
 *
 * Eight columns of o stay in registers while all n values pass, 8.6 instructions for each of
 * their elements; the columns left over go one by one. */
#include "kernels/riscv64/lanes_rv64gc.h"

#define dst a0
#define weights a1
#define column a2      /* first value of these columns */
#define weights_end a3 /* first the argument n */
#define cols_left a4
#define value_at a5
#define row_bytes a6
#define weight_at a7
#define bits0 t0
#define bits1 t1
#define bits2 t2
#define bits3 t3
#define temp t4
#define weight fs0

.macro four_columns first, sum0, sum1, sum2, sum3
    lh bits0, 2*\first(value_at)
    lh bits1, 2*\first + 2(value_at)
    lh bits2, 2*\first + 4(value_at)
    lh bits3, 2*\first + 6(value_at)
    shift_f16 \first\()0, bits0, temp
    shift_f16 \first\()1, bits1, temp
    shift_f16 \first\()2, bits2, temp
    shift_f16 \first\()3, bits3, temp
    fmv.w.x ft8, bits0
    fmv.w.x ft9, bits1
    fmv.w.x ft10, bits2
    fmv.w.x ft11, bits3
    fmul.s ft8, ft8, scale_up
    fmul.s ft9, ft9, scale_up
    fmul.s ft10, ft10, scale_up
    fmul.s ft11, ft11, scale_up
    fmadd.s \sum0, weight, ft8, \sum0
    fmadd.s \sum1, weight, ft9, \sum1
    fmadd.s \sum2, weight, ft10, \sum2
    fmadd.s \sum3, weight, ft11, \sum3
.endm

func accumulate_f32_f16_rv64gc
    save_floats
    widen_constants temp
    slli row_bytes, cols_left, 1
    slli weights_end, weights_end, 2
    add weights_end, weights_end, weights
    beq weights, weights_end, .Ldone
.Leight_columns:
    li temp, 8
    bltu cols_left, temp, .Lone_column
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    flw fa\n, 4*\n(dst)
    .endr
    mv value_at, column
    mv weight_at, weights
.Lvalue_eight:
    flw weight, 0(weight_at)
    addi weight_at, weight_at, 4
    four_columns 0, fa0, fa1, fa2, fa3
    four_columns 4, fa4, fa5, fa6, fa7
    add value_at, value_at, row_bytes
    bne weight_at, weights_end, .Lvalue_eight
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fsw fa\n, 4*\n(dst)
    .endr
    addi column, column, 16
    addi dst, dst, 32
    addi cols_left, cols_left, -8
    j .Leight_columns

.Lone_column:
    beqz cols_left, .Ldone
    flw fa0, 0(dst)
    mv value_at, column
    mv weight_at, weights
.Lvalue_one:
    lh bits0, 0(value_at)
    flw weight, 0(weight_at)
    addi weight_at, weight_at, 4
    shift_f16 one, bits0, temp
    fmv.w.x ft8, bits0
    fmul.s ft8, ft8, scale_up
    add value_at, value_at, row_bytes
    fmadd.s fa0, weight, ft8, fa0
    bne weight_at, weights_end, .Lvalue_one
    fsw fa0, 0(dst)
    addi column, column, 2
    addi dst, dst, 4
    addi cols_left, cols_left, -1
    j .Lone_column
.Ldone:
    restore_floats
    ret

    .irp first, 0, 4
    not_finite \first\()0, bits0, temp
    not_finite \first\()1, bits1, temp
    not_finite \first\()2, bits2, temp
    not_finite \first\()3, bits3, temp
    .endr
    not_finite one, bits0, temp
endfunc
