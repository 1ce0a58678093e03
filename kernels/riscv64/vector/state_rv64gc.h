/* The states of recurrent mixers without vectors: strips of 8 columns, then single columns, so that
 * memory is read row by row and no sum waits for itself. A row of a strip takes 21 instructions to
 * read and 46 to update and read. */
#ifndef INGOT_KERNELS_RISCV64_STATE_RV64GC_H
#define INGOT_KERNELS_RISCV64_STATE_RV64GC_H

#include "kernels/riscv64/asm.h"

#define strip a0       /* s, at the strip's first column */
#define out a1
#define stride a5      /* on entry the argument `shape`; then bytes from a row to the next */
#define row_bytes a6   /* bytes of a vector with one number per row */
#define left a7        /* columns */
#define row t1
#define writes_at t2   /* k or b */
#define reads_at t3    /* q or c */
#define reads_end t4
#define temp t5
#define decay fa0
#define gain fa1       /* beta or dt */
#define writes ft10
#define reads ft11

#define KEPT_BYTES 64

.macro start_state
    addi sp, sp, -KEPT_BYTES
    .cfi_adjust_cfa_offset KEPT_BYTES
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fsd fs\n, 8*\n(sp)
    .cfi_rel_offset fs\n, 8*\n
    .endr
    ld row_bytes, STATE_ROWS(stride)
    ld left, STATE_COLUMNS(stride)
    ld stride, STATE_STRIDE(stride)
    slli row_bytes, row_bytes, 2
    slli stride, stride, 2
.endm

.macro end_state
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fld fs\n, 8*\n(sp)
    .cfi_restore fs\n
    .endr
    addi sp, sp, KEPT_BYTES
    .cfi_adjust_cfa_offset -KEPT_BYTES
.endm

/* Run \step index, state, in, sum for each column: the state is in ft0-ft7, the input (d or dt x)
 * in fs0-fs7. */
.macro for_strip width, step:vararg
    \step 0, ft0, fs0, fa2
    .if \width == 8
    \step 1, ft1, fs1, fa3
    \step 2, ft2, fs2, fa4
    \step 3, ft3, fs3, fa5
    \step 4, ft4, fs4, fa6
    \step 5, ft5, fs5, fa7
    \step 6, ft6, fs6, ft8
    \step 7, ft7, fs7, ft9
    .endif
.endm

.macro load_state index, state, in, sum
    flw \state, 4*\index(row)
.endm

.macro store_state index, state, in, sum
    fsw \state, 4*\index(row)
.endm

.macro store_sum index, state, in, sum
    fsw \sum, 4*\index(out)
.endm

.macro clear_sum index, state, in, sum
    fmv.w.x \sum, zero
.endm

.macro fade index, state, in, sum
    fmul.s \state, \state, decay
.endm

.macro write_in index, state, in, sum
    fmadd.s \state, \in, writes, \state
.endm

.macro read_out index, state, in, sum
    fmadd.s \sum, \state, reads, \sum
.endm

/* sums = the products of the columns with the vector at \vector. */
.macro read_strip width, vector
    for_strip \width, clear_sum
    mv row, strip
    mv reads_at, \vector
    add reads_end, \vector, row_bytes
    beq reads_at, reads_end, .Lread\@
.Lrow\@:
    for_strip \width, load_state
    flw reads, 0(reads_at)
    add row, row, stride
    addi reads_at, reads_at, 4
    for_strip \width, read_out
    bne reads_at, reads_end, .Lrow\@
.Lread\@:
.endm

/* state = decay * state + the vector at \writes_from * in; sums = the products of its columns with
 * the vector at \reads_from. */
.macro step_strip width, writes_from, reads_from
    for_strip \width, clear_sum
    mv row, strip
    mv writes_at, \writes_from
    mv reads_at, \reads_from
    add reads_end, \reads_from, row_bytes
    beq reads_at, reads_end, .Lstepped\@
.Lrow\@:
    for_strip \width, load_state
    flw writes, 0(writes_at)
    flw reads, 0(reads_at)
    for_strip \width, fade
    addi writes_at, writes_at, 4
    for_strip \width, write_in
    addi reads_at, reads_at, 4
    for_strip \width, store_state
    add row, row, stride
    for_strip \width, read_out
    bne reads_at, reads_end, .Lrow\@
.Lstepped\@:
.endm

.macro end_strip width
    for_strip \width, store_sum
    addi strip, strip, 4*\width
    addi out, out, 4*\width
    addi left, left, -\width
.endm

/* Run \columns width for all columns. */
.macro for_columns columns
    j .Leights\@
.Leight\@:
    \columns 8
    end_strip 8
.Leights\@:
    li temp, 8
    bgeu left, temp, .Leight\@
    j .Lones\@
.Lone\@:
    \columns 1
    end_strip 1
.Lones\@:
    bnez left, .Lone\@
.endm

#endif
