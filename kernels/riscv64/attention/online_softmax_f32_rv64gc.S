/* void online_softmax_f32_rv64gc(struct score_row *s, size_t n_q, size_t n)
 *
 * a0 row, a1 rows left, a2 n, then its bytes. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa7; saves fs0-fs11 on
 * the stack, with 64 bytes of lanes below them.
 *
 * Scores from n up to a multiple of 16 become NaNs first: maxima ignore them and their exp is 0, as the
 * contract requires. Four lanes of the sum are computed at a time; each score takes 24 instructions,
 * including its maximum. */
#include "kernels/riscv64/vector/exp_rv64gc.h"

#define row a0
#define rows_left a1
#define bytes a2       /* bytes of n scores, then rounded up to a multiple of 16 */
#define at a3
#define end a4
#define lane a5        /* byte offset of the first of four lanes: 0, 16, 32, 48 */
#define temp a6
#define row_end a7     /* of all scores */
#define max fa4
#define factor fa5
#define old_sum fa6

#define LANES_BYTES 64
#define F32_QUIET_NAN 0x7fc00000

/* [at, end) = \value */
.macro fill value, name
    beq at, end, .Lfilled_\name
.Lfill_\name:
    sw \value, 0(at)
    addi at, at, 4
    bne at, end, .Lfill_\name
.Lfilled_\name:
.endm

/* max = the new maximum of the row, compared as in the reference; factor = e^(old - new) */
.macro take_maximum
    .irp n, 0, 1, 2, 3
    fmv.w.x fs\n, temp                 /* -infinity */
    .endr
    mv at, row
.Lmaximum:
    flw fa0, 0(at)
    flw fa1, 4(at)
    flw fa2, 8(at)
    flw fa3, 12(at)
    addi at, at, 16
    .irp n, 0, 1, 2, 3
    fmax.s fs\n, fs\n, fa\n
    .endr
    bne at, end, .Lmaximum
    fmax.s fs0, fs0, fs1
    fmax.s fs2, fs2, fs3
    flw max, SCORE_ROW_MAX(row)
    fmax.s fs0, fs0, fs2
    fmv.s factor, max
    flt.s temp, max, fs0
    beqz temp, .Lkept
    fmv.s max, fs0
.Lkept:
    fsw max, SCORE_ROW_MAX(row)
    fsub.s fa0, factor, max
    fmv.s fa1, fa0
    fmv.s fa2, fa0
    fmv.s fa3, fa0
    exp_of_falls
    fmv.s factor, fs0
    fsw factor, SCORE_ROW_FACTOR(row)
.endm

/* Replace the scores of four lanes by their exp, and store the sums to the stack. */
.macro four_lanes
    .irp sum, ft4, ft5, ft6, ft7
    fmv.w.x \sum, zero
    .endr
    add at, row, lane
.Lscores:
    flw fa0, 0(at)
    flw fa1, 4(at)
    flw fa2, 8(at)
    flw fa3, 12(at)
    .irp n, 0, 1, 2, 3
    fsub.s fa\n, fa\n, max
    .endr
    exp_of_falls
    fsw fs0, 0(at)
    fsw fs1, 4(at)
    fsw fs2, 8(at)
    fsw fs3, 12(at)
    addi at, at, 64
    fadd.s ft4, ft4, fs0
    fadd.s ft5, ft5, fs1
    fadd.s ft6, ft6, fs2
    fadd.s ft7, ft7, fs3
    bltu at, end, .Lscores
    add temp, sp, lane
    fsw ft4, 0(temp)
    fsw ft5, 4(temp)
    fsw ft6, 8(temp)
    fsw ft7, 12(temp)
.endm

/* fs0 = the sum of the lanes, the upper half added to the lower at each step; lanes 12 to 15 are in
 * ft4-ft7. */
.macro fold_lanes
    flw fs0, 0(sp)
    flw fs1, 4(sp)
    flw fs2, 8(sp)
    flw fs3, 12(sp)
    flw ft0, 16(sp)
    flw ft1, 20(sp)
    flw ft2, 24(sp)
    flw ft3, 28(sp)
    flw fa0, 32(sp)
    flw fa1, 36(sp)
    flw fa2, 40(sp)
    flw fa3, 44(sp)
    fadd.s ft0, ft0, ft4
    fadd.s ft1, ft1, ft5
    fadd.s ft2, ft2, ft6
    fadd.s ft3, ft3, ft7
    .irp n, 0, 1, 2, 3
    fadd.s fs\n, fs\n, fa\n
    .endr
    .irp n, 0, 1, 2, 3
    fadd.s fs\n, fs\n, ft\n
    .endr
    fadd.s fs0, fs0, fs2
    fadd.s fs1, fs1, fs3
    fadd.s fs0, fs0, fs1
.endm

func online_softmax_f32_rv64gc
    exp_begin falls, temp
    addi sp, sp, -LANES_BYTES
    .cfi_adjust_cfa_offset LANES_BYTES
    slli bytes, bytes, 2
    beqz rows_left, .Ldone
.Lrow:
    add at, row, bytes
    addi end, bytes, 63
    andi end, end, -64
    add end, end, row
    li temp, F32_QUIET_NAN
    fill temp, nan
    li temp, F32_MINUS_INFINITY
    take_maximum
    addi row_end, row, 4*KV_TILE
    li lane, 0
.Lfour_lanes:
    four_lanes
    addi lane, lane, 16
    li temp, 64
    bne lane, temp, .Lfour_lanes
    fold_lanes
    flw old_sum, SCORE_ROW_SUM(row)
    fmadd.s old_sum, factor, old_sum, fs0
    fsw old_sum, SCORE_ROW_SUM(row)
    mv at, end
    mv end, row_end
    fill zero, zero
    addi row, row, SCORE_ROW_BYTES
    addi rows_left, rows_left, -1
    bnez rows_left, .Lrow
.Ldone:
    addi sp, sp, LANES_BYTES
    .cfi_adjust_cfa_offset -LANES_BYTES
    exp_end
    ret
endfunc
