/* void accumulate_f32_f16_rv64gc(float *restrict o, const struct score_row *restrict s,
 *                                const uint16_t *restrict v, size_t n_q, size_t n, size_t d)
 *
 * a0 o and a2 v, at the strip, a1 s, a3 n_q, a4 n, a5 dimensions left; the rest as in panel_rv64gc.h.
 * Clobbers a0, a2, a5-a7, t0-t6, ft0-ft11, fa0-fa7, fflags; saves s0-s11 and fs0-fs11, and uses 2.2 KiB
 * of stack.
 *
 * A strip is 8 dimensions; the remaining ones are computed singly. One position of three queries takes
 * 78 instructions, 24 of them products; with more queries, the first three take 87 and
 * each further three 38. A strip with an infinite or NaN value takes the slow path. */
#include "kernels/riscv64/attention/panel_rv64gc.h"

#define positions a4
#define dims_left a5

.macro load_four at
    load_four_halves \at
.endm

.macro check_four
    scale_four
.endm

.macro begin_strip
    fsflagsi 0
.endm

.macro end_strip slow
    check_overflow \slow
.endm

.macro keep_slowly
    keep_halves_slowly
.endm

.macro load_mults count
    load_score_mults \count
.endm

.macro steps_begin
.endm

.macro start_row row, factor, sums:vararg
    start_row_of_factor \row, \factor, \sums
.endm

/* Compute one dimension, at out and source, for all rows. */
.macro lone_dimension
    mv rows_left, n_rows
    mv out_row, out
    mv mult_row, mult
.Llone_row:
    flw fa0, 0(out_row)
    flw factor0, SCORE_ROW_FACTOR(mult_row)
    fmul.s fa0, fa0, factor0
    mv source_at, source
    mv mult0, mult_row
    add mult_end, mult0, depth_bytes
    beq mult0, mult_end, .Llone_store
.Llone_position:
    widen_any source_at
    flw factor0, 0(mult0)
    add source_at, source_at, source_stride
    addi mult0, mult0, 4
    fmadd.s fa0, ft0, factor0, fa0
    bne mult0, mult_end, .Llone_position
.Llone_store:
    fsw fa0, 0(out_row)
    add out_row, out_row, out_stride
    addi mult_row, mult_row, SCORE_ROW_BYTES
    addi rows_left, rows_left, -1
    bnez rows_left, .Llone_row
.endm

func accumulate_f32_f16_rv64gc
    push_panel
    widen_start temp
    slli out_stride, dims_left, 2
    slli source_stride, dims_left, 1
    slli depth_bytes, positions, 2
    li mult_stride, SCORE_ROW_BYTES
    beqz n_rows, .Ldone
.Lstrips:
    li temp, 8
    bltu dims_left, temp, .Llone
    panel_rows
    addi out, out, 32
    addi source, source, 16
    addi dims_left, dims_left, -8
    j .Lstrips
.Llone:
    beqz dims_left, .Ldone
    lone_dimension
    addi out, out, 4
    addi source, source, 2
    addi dims_left, dims_left, -1
    j .Llone
.Ldone:
    pop_panel
    ret
endfunc
