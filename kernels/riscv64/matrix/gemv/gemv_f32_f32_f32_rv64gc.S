/* void gemv_f32_f32_f32_rv64gc(float *restrict y, const void *restrict w,
 *                              const float *restrict x, size_t rows, size_t cols, size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0, a1, a3-a5, ft0-ft11, fa0-fa7; keeps fs0-fs3
 * on the stack.
 *
 * One row at a time with its 16 lanes in registers, 0-7 in fa0-fa7, 8-15 in ft0-ft7: 51
 * instructions for 16 weights. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define weights a1     /* rows follow each other without a gap */
#define act_start a2
#define rows_left a3
#define act_end a4     /* first the argument cols */
#define act a5

#define SAVED_BYTES 32 /* fs0-fs3 */

.macro four_lanes first, lane0, lane1, lane2, lane3
    flw ft8, 4*\first(weights)
    flw ft9, 4*\first + 4(weights)
    flw ft10, 4*\first + 8(weights)
    flw ft11, 4*\first + 12(weights)
    flw fs0, 4*\first(act)
    flw fs1, 4*\first + 4(act)
    flw fs2, 4*\first + 8(act)
    flw fs3, 4*\first + 12(act)
    fmadd.s \lane0, ft8, fs0, \lane0
    fmadd.s \lane1, ft9, fs1, \lane1
    fmadd.s \lane2, ft10, fs2, \lane2
    fmadd.s \lane3, ft11, fs3, \lane3
.endm

/* Upper half onto lower, 16 to 1; the sum is left in fa0. */
.macro fold_lanes
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fadd.s fa\n, fa\n, ft\n
    .endr
    fadd.s fa0, fa0, fa4
    fadd.s fa1, fa1, fa5
    fadd.s fa2, fa2, fa6
    fadd.s fa3, fa3, fa7
    fadd.s fa0, fa0, fa2
    fadd.s fa1, fa1, fa3
    fadd.s fa0, fa0, fa1
.endm

func gemv_f32_f32_f32_rv64gc
    addi sp, sp, -SAVED_BYTES
    .cfi_adjust_cfa_offset SAVED_BYTES
    .irp n, 0, 1, 2, 3
    fsd fs\n, 8*\n(sp)
    .cfi_rel_offset fs\n, 8*\n
    .endr
    slli act_end, act_end, 2
    add act_end, act_end, act_start
    beqz rows_left, .Ldone
.Lrow:
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fmv.w.x fa\n, zero
    fmv.w.x ft\n, zero
    .endr
    mv act, act_start
    beq act, act_end, .Lstore
.Lcolumns:
    four_lanes 0, fa0, fa1, fa2, fa3
    four_lanes 4, fa4, fa5, fa6, fa7
    four_lanes 8, ft0, ft1, ft2, ft3
    four_lanes 12, ft4, ft5, ft6, ft7
    addi weights, weights, 64
    addi act, act, 64
    bne act, act_end, .Lcolumns
.Lstore:
    fold_lanes
    addi rows_left, rows_left, -1
    fsw fa0, 0(dst)
    addi dst, dst, 4
    bnez rows_left, .Lrow
.Ldone:
    .irp n, 0, 1, 2, 3
    fld fs\n, 8*\n(sp)
    .cfi_restore fs\n
    .endr
    addi sp, sp, SAVED_BYTES
    .cfi_adjust_cfa_offset -SAVED_BYTES
    ret
endfunc
