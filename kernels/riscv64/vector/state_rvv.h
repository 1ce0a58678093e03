/* The states of recurrent mixers: a strip is 8 registers of columns. A lane is a column, so nothing
 * is folded. Rows are taken in fours, in two alternating groups of registers, whose loads do not
 * wait for each other: a row takes 4.5 instructions to read, 8.75 to update and read. */
#ifndef INGOT_KERNELS_RISCV64_STATE_RVV_H
#define INGOT_KERNELS_RISCV64_STATE_RVV_H

#include "kernels/riscv64/asm.h"

#define strip a0       /* s, at the strip's first column */
#define out a1
#define stride a5      /* on entry the argument `shape`; then bytes from a row to the next */
#define row_bytes a6   /* bytes of a vector with one number per row */
#define left a7        /* columns */
#define bytes t0       /* of this strip's columns */
#define row t1
#define writes_at t2   /* k or b */
#define reads_at t3    /* q or c */
#define reads_end t4
#define temp t5
#define taken t6
#define decay fa0
#define gain fa1       /* beta or dt */
#define writes ft0
#define reads ft1

#define state0 v0      /* m8 each */
#define state1 v8
#define inputs v16     /* the input of the state: d or dt x */
#define sums v24

.macro start_state done
    ld row_bytes, STATE_ROWS(stride)
    ld left, STATE_COLUMNS(stride)
    ld stride, STATE_STRIDE(stride)
    slli row_bytes, row_bytes, 2
    slli stride, stride, 2
    beqz left, \done
.endm

.macro take_columns
    vsetvli taken, left, e32, m8, ta, ma
    slli bytes, taken, 2
    sub left, left, taken
.endm

.macro store_sums
    vse32.v sums, (out)
    add out, out, bytes
    add strip, strip, bytes
.endm

.macro read_row state, offset
    vle32.v \state, (row)
    flw reads, \offset(reads_at)
    add row, row, stride
    vfmacc.vf sums, reads, \state
.endm

.macro step_row state, offset
    vle32.v \state, (row)
    flw writes, \offset(writes_at)
    flw reads, \offset(reads_at)
    vfmul.vf \state, \state, decay
    vfmacc.vf \state, writes, inputs
    vfmacc.vf sums, reads, \state
    vse32.v \state, (row)
    add row, row, stride
.endm

/* sums = the products of the columns with the vector at \vector. */
.macro read_strip vector
    vmv.v.i sums, 0
    mv row, strip
    mv reads_at, \vector
    add reads_end, \vector, row_bytes
    andi temp, row_bytes, 12           /* rows beyond a multiple of four come first */
    beqz temp, .Lfours\@
.Lone\@:
    read_row state0, 0
    addi reads_at, reads_at, 4
    addi temp, temp, -4
    bnez temp, .Lone\@
.Lfours\@:
    beq reads_at, reads_end, .Lread\@
.Lfour\@:
    read_row state0, 0
    read_row state1, 4
    read_row state0, 8
    read_row state1, 12
    addi reads_at, reads_at, 16
    bne reads_at, reads_end, .Lfour\@
.Lread\@:
.endm

/* state = decay * state + the vector at \writes_from * inputs; sums = the products of its columns
 * with the vector at \reads_from. */
.macro step_strip writes_from, reads_from
    vmv.v.i sums, 0
    mv row, strip
    mv writes_at, \writes_from
    mv reads_at, \reads_from
    add reads_end, \reads_from, row_bytes
    andi temp, row_bytes, 12
    beqz temp, .Lfours\@
.Lone\@:
    step_row state0, 0
    addi writes_at, writes_at, 4
    addi reads_at, reads_at, 4
    addi temp, temp, -4
    bnez temp, .Lone\@
.Lfours\@:
    beq reads_at, reads_end, .Lstepped\@
.Lfour\@:
    step_row state0, 0
    step_row state1, 4
    step_row state0, 8
    step_row state1, 12
    addi writes_at, writes_at, 16
    addi reads_at, reads_at, 16
    bne reads_at, reads_end, .Lfour\@
.Lstepped\@:
.endm

#endif
