/* out[r][0..8) += sum over k of mult[r][k] * source[k][0..8), k ascending by fma, for any number of rows
 * r, without vectors. Score and accumulate use this for one strip of 8 columns, up to 64 deep, at a time.
 *
 * Three rows at a time share the loaded and converted numbers, with 24 sums in registers. With more rows,
 * the first three save the floats on the stack, 2 KiB from sp on, and other rows read them there. 24
 * products take 38 instructions, plus the loads of the source. If the source has numbers that need the
 * slow conversion (fp16 that is not finite), all of them are converted that way to the stack, and all
 * rows read them there.
 *
 * A kernel that includes this defines these macros:
 *     load_four at            ft0-ft3 = the four numbers at source_at + at.
 *     check_four              check these numbers after their use; may destroy them.
 *     begin_strip, end_strip slow      run before and after rows that load; go to \slow if a check failed.
 *     keep_slowly             save all numbers of the strip on the stack, by the slow conversion.
 * load_mults count load factor0 to factor2, and advance; before the first, steps_begin runs.
 *     start_row row, factor, and 8 sums    set the sums' start values; row is 0 to 2, from out_row on.
 * The kernel also sets the registers below up to mult_stride. The kernel owns s10, s11 and ft7.
 * Clobbers t0-t6, ft0-ft11, fa0-fa7, and all that push_panel saves. */
#ifndef INGOT_KERNELS_RISCV64_PANEL_RV64GC_H
#define INGOT_KERNELS_RISCV64_PANEL_RV64GC_H

#include "kernels/riscv64/matrix/f16_rv64gc.h"
#include "kernels/riscv64/attention/queries.h"

#define out a0         /* the strip in the first row */
#define mult a1        /* the first row's multipliers */
#define source a2      /* the strip's first numbers */
#define n_rows a3
#define out_stride a6  /* bytes from one row to the next */
#define source_stride a7
#define depth_bytes s0 /* bytes of the current multipliers of a row */
#define mult_stride s9
#define mult0 t0
#define mult1 t1
#define mult2 s1
#define mult_end s2
#define source_at s3
#define kept_at s4
#define rows_left s5
#define out_row s6
#define mult_row s7
#define temp s8

#define factor0 fs9
#define factor1 fs10
#define factor2 fs11

#define PANEL_DEPTH 64
#define PANEL_KEPT (32*PANEL_DEPTH)
#define PANEL_FLOATS ALL_SAVED_BYTES
#define PANEL_SAVED (PANEL_FLOATS + 8*12)

/* Saved registers, and space for saved numbers. */
.macro push_panel
    push_at 0, PANEL_SAVED, ALL_SAVED
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fsd fs\n, PANEL_FLOATS + 8*\n(sp)
    .cfi_rel_offset fs\n, PANEL_FLOATS + 8*\n
    .endr
    addi sp, sp, -PANEL_KEPT
    .cfi_adjust_cfa_offset PANEL_KEPT
.endm

.macro pop_panel
    addi sp, sp, PANEL_KEPT/2
    addi sp, sp, PANEL_KEPT/2
    .cfi_adjust_cfa_offset -PANEL_KEPT
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fld fs\n, PANEL_FLOATS + 8*\n(sp)
    .cfi_restore fs\n
    .endr
    pop_at 0, PANEL_SAVED, ALL_SAVED
.endm

/* Call \macro for a row, with its number among the three, its multiplier and its eight sums. */
.macro with_row macro, index
    .if \index == 0
    \macro 0, factor0, fa0, fa1, fa2, fa3, fa4, fa5, fa6, fa7
    .elseif \index == 1
    \macro 1, factor1, ft4, ft5, ft6, ft8, ft9, ft10, ft11, fs8
    .else
    \macro 2, factor2, fs0, fs1, fs2, fs3, fs4, fs5, fs6, fs7
    .endif
.endm

.macro with_rows macro, count
    with_row \macro, 0
    .if \count > 1
    with_row \macro, 1
    .endif
    .if \count > 2
    with_row \macro, 2
    .endif
.endm

.macro load_row row, factor, sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7
    flw \sum0, 0(temp)
    flw \sum1, 4(temp)
    flw \sum2, 8(temp)
    flw \sum3, 12(temp)
    flw \sum4, 16(temp)
    flw \sum5, 20(temp)
    flw \sum6, 24(temp)
    flw \sum7, 28(temp)
    add temp, temp, out_stride
.endm

.macro zero_row row, factor, sums:vararg
    .irp sum, \sums
    fmv.w.x \sum, zero
    .endr
.endm

.macro store_row row, factor, sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7
    fsw \sum0, 0(out_row)
    fsw \sum1, 4(out_row)
    fsw \sum2, 8(out_row)
    fsw \sum3, 12(out_row)
    fsw \sum4, 16(out_row)
    fsw \sum5, 20(out_row)
    fsw \sum6, 24(out_row)
    fsw \sum7, 28(out_row)
    add out_row, out_row, out_stride
    add mult_row, mult_row, mult_stride
.endm

.macro low_products row, factor, sum0, sum1, sum2, sum3, others:vararg
    fmadd.s \sum0, ft0, \factor, \sum0
    fmadd.s \sum1, ft1, \factor, \sum1
    fmadd.s \sum2, ft2, \factor, \sum2
    fmadd.s \sum3, ft3, \factor, \sum3
.endm

.macro high_products row, factor, sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7
    low_products \row, \factor, \sum4, \sum5, \sum6, \sum7
.endm

/* how: load (from the source), keep (load and save), kept (from the saved ones). at is 0 or 4. */
.macro panel_four count, how, at, products
    .ifc \how, kept
    flw ft0, 4*\at(kept_at)
    flw ft1, 4*\at + 4(kept_at)
    flw ft2, 4*\at + 8(kept_at)
    flw ft3, 4*\at + 12(kept_at)
    .else
    load_four \at
    .ifc \how, keep
    fsw ft0, 4*\at(kept_at)
    fsw ft1, 4*\at + 4(kept_at)
    fsw ft2, 4*\at + 8(kept_at)
    fsw ft3, 4*\at + 12(kept_at)
    .endif
    .endif
    with_rows \products, \count
    .ifnc \how, kept
    check_four
    .endif
.endm

.macro load_moving_mults count
    flw factor0, 0(mult0)
    addi mult0, mult0, 4
    .if \count > 1
    flw factor1, 0(mult1)
    addi mult1, mult1, 4
    .endif
    .if \count > 2
    flw factor2, 0(mult2)
    addi mult2, mult2, 4
    .endif
.endm

/* For rows of scores. */
.macro load_score_mults count
    flw factor0, 0(mult0)
    .if \count > 1
    flw factor1, SCORE_ROW_BYTES(mult0)
    .endif
    .if \count > 2
    flw factor2, 2*SCORE_ROW_BYTES(mult0)
    .endif
    addi mult0, mult0, 4
.endm

/* Compute \count rows from out_row and mult_row on; both move past them. If \how is load or keep
 * and the slow path is needed, branches to .Lslowly before anything is stored. */
.macro panel count, how
    mv temp, out_row
    with_rows start_row, \count
    mv mult0, mult_row
    .if \count > 1
    add mult1, mult0, mult_stride
    .endif
    .if \count > 2
    add mult2, mult1, mult_stride
    .endif
    add mult_end, mult0, depth_bytes
    mv kept_at, sp
    .ifnc \how, kept
    mv source_at, source
    begin_strip
    .endif
    steps_begin
    beq mult0, mult_end, .Lstore\@
.Lstep\@:
    load_mults \count
    panel_four \count, \how, 0, low_products
    panel_four \count, \how, 4, high_products
    .ifnc \how, kept
    add source_at, source_at, source_stride
    .endif
    .ifnc \how, load
    addi kept_at, kept_at, 32
    .endif
    bne mult0, mult_end, .Lstep\@
.Lstore\@:
    .ifnc \how, kept
    end_strip .Lslowly
    .endif
    with_rows store_row, \count
    addi rows_left, rows_left, -\count
.endm

/* Compute all rows of a strip, at least one. */
.macro panel_rows
    mv rows_left, n_rows
    mv out_row, out
    mv mult_row, mult
    li temp, 3
    bltu temp, rows_left, .Lkeep
    beq temp, rows_left, .Lload_three
    li temp, 2
    beq temp, rows_left, .Lload_two
    panel 1, load
    j .Lrows_done
.Lload_two:
    panel 2, load
    j .Lrows_done
.Lload_three:
    panel 3, load
    j .Lrows_done
.Lslowly:
    keep_slowly
    j .Lkept
.Lkeep:
    panel 3, keep
.Lkept:
    by_threes panel, rows_left, temp, .Lrows_done, kept
.Lrows_done:
.endm

/* For accumulate: start the sums from out times the row's factor. */
.macro start_row_of_factor row, factor, sums:vararg
    flw \factor, \row*SCORE_ROW_BYTES + SCORE_ROW_FACTOR(mult_row)
    load_row \row, \factor, \sums
    .irp sum, \sums
    fmul.s \sum, \sum, \factor
    .endr
.endm

/* The hooks of fp16. */
.macro load_four_halves at
    lh bits0, 2*\at(source_at)
    lh bits1, 2*\at + 2(source_at)
    lh bits2, 2*\at + 4(source_at)
    lh bits3, 2*\at + 6(source_at)
    .irp bits, bits0, bits1, bits2, bits3
    widen_shift \bits
    .endr
    fmv.w.x ft0, bits0
    fmv.w.x ft1, bits1
    fmv.w.x ft2, bits2
    fmv.w.x ft3, bits3
    scale_four
.endm

.macro scale_four
    fmul.s ft0, ft0, scale_up
    fmul.s ft1, ft1, scale_up
    fmul.s ft2, ft2, scale_up
    fmul.s ft3, ft3, scale_up
.endm

.macro check_overflow slow
    frflags temp
    andi temp, temp, FLAG_OVERFLOW
    bnez temp, \slow
.endm

/* Save all numbers of the strip by the conversion that is correct for any value. */
.macro keep_halves_slowly
    mv source_at, source
    mv kept_at, sp
    slli mult_end, depth_bytes, 3
    add mult_end, mult_end, kept_at
.Lslow_row:
    li temp, 8
.Lslow_half:
    widen_any source_at
    fsw ft0, 0(kept_at)
    addi source_at, source_at, 2
    addi kept_at, kept_at, 4
    addi temp, temp, -1
    bnez temp, .Lslow_half
    add source_at, source_at, source_stride
    addi source_at, source_at, -16
    bne kept_at, mult_end, .Lslow_row
.endm

#endif
