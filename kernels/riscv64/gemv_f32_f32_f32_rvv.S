/* void gemv_f32_f32_f32_rvv(float *restrict y, const void *restrict w,
 *                           const float *restrict x, size_t rows, size_t cols)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0, a1, a3, a5-a7, t0-t5, fa0-fa3, v0-v23.
 *
 * 16 lanes a row, four rows at once so that 16 values of x serve 64 weights: 15 instructions
 * for these. Remaining rows go one by one. */
#include "kernels/riscv64/vector.h"

#define dst a0
#define row0 a1
#define act_start a2
#define rows_left a3
#define cols a4
#define act a5
#define act_end a6
#define row_bytes a7
#define row1 t0
#define row2 t1
#define row3 t2
#define vtype_16 t3
#define temp t4
#define four t5

#define sum0 v0        /* 16 lanes each */
#define sum1 v4
#define sum2 v8
#define sum3 v12
#define act_lanes v16
#define row_lanes v20

.macro row_step row, sum
    vle32.v row_lanes, (\row)
    addi \row, \row, 64
    vfmacc.vv \sum, row_lanes, act_lanes
.endm

func gemv_f32_f32_f32_rvv, v
    set_16_lanes vtype_16, temp
    slli row_bytes, cols, 2
    add act_end, act_start, row_bytes
    li four, 4
.Lfour_rows:
    bltu rows_left, four, .Lone_row
    add row1, row0, row_bytes
    add row2, row1, row_bytes
    add row3, row2, row_bytes
    mv act, act_start
    vmv.v.i sum0, 0
    vmv.v.i sum1, 0
    vmv.v.i sum2, 0
    vmv.v.i sum3, 0
    beqz cols, .Lstore_four
.Lcolumns_four:
    vle32.v act_lanes, (act)
    addi act, act, 64
    row_step row0, sum0
    row_step row1, sum1
    row_step row2, sum2
    row_step row3, sum3
    bne act, act_end, .Lcolumns_four
.Lstore_four:
    fold_16_lanes fa0, sum0, act_lanes
    fold_16_lanes fa1, sum1, row_lanes
    fold_16_lanes fa2, sum2, act_lanes
    fold_16_lanes fa3, sum3, row_lanes
    fsw fa0, 0(dst)
    fsw fa1, 4(dst)
    fsw fa2, 8(dst)
    fsw fa3, 12(dst)
    addi dst, dst, 16
    addi rows_left, rows_left, -4
    mv row0, row3                      /* the fourth row ended where the next begins */
    j .Lfour_rows

.Lone_row:
    beqz rows_left, .Ldone
    mv act, act_start
    vmv.v.i sum0, 0
    beqz cols, .Lstore_one
.Lcolumns_one:
    vle32.v act_lanes, (act)
    addi act, act, 64
    row_step row0, sum0
    bne act, act_end, .Lcolumns_one
.Lstore_one:
    fold_16_lanes fa0, sum0, act_lanes
    fsw fa0, 0(dst)
    addi dst, dst, 4
    addi rows_left, rows_left, -1
    j .Lone_row
.Ldone:
    ret
endfunc
