// The states of recurrent mixers, one strip of columns at a time: 32 columns in eight registers,
// then 4, then single ones. A lane is a column, so nothing is folded.
//
// Four rows of a strip of 32 take 43 instructions to read, 32 of them arithmetic, and 116 to update
// and read, 96 of them arithmetic.
#ifndef INGOT_KERNELS_ARM64_STATE_NEON_H
#define INGOT_KERNELS_ARM64_STATE_NEON_H

#include "kernels/arm64/asm.h"

#define strip x0                /* s, at the strip's first column */
#define out x1
#define shape x5
#define stride x6               /* bytes */
#define rest x7                 /* step from the second half of a strip of 32 to the next row */
#define columns_left x8
#define n_rows x9
#define reader x10
#define writer x11
#define rows_left x12
#define writes_at x13
#define reads_at x14
#define writes v8.s             /* k or b of up to four rows */
#define reads v9.s              /* q or c; k in the first pass of delta */
#define decay v10.s[0]
#define gain v11.s[0]           /* beta or dt */

.irp n, 0, 1, 2, 3, 4, 5, 6, 7
state\n .req v\n
.endr
in0 .req v16                    // the input of the state: d or dt x
in1 .req v17
in2 .req v18
in3 .req v19
in4 .req v20
in5 .req v21
in6 .req v22
in7 .req v23
sum0 .req v24
sum1 .req v25
sum2 .req v26
sum3 .req v27
sum4 .req v28
sum5 .req v29
sum6 .req v30
sum7 .req v31

// Load shape, decay from s0, gain from s1.
.macro start_state
    sub     sp, sp, #32
    .cfi_adjust_cfa_offset 32
    save_pair d8, d9, 0
    save_pair d10, d11, 16
    ldp     n_rows, columns_left, [shape, #STATE_ROWS]
    ldr     stride, [shape, #STATE_STRIDE]
    fmov    s10, s0
    fmov    s11, s1
    lsl     stride, stride, #2
    sub     rest, stride, #64
.endm

.macro end_state
    restore_pair d8, d9, 0
    restore_pair d10, d11, 16
    add     sp, sp, #32
    .cfi_adjust_cfa_offset -32
.endm

// Run \step for each register of a strip of \width columns. \step also gets the row's number among
// four.
.macro for_strip width, step, row=0
.if \width == 32
.irp n, 0, 1, 2, 3, 4, 5, 6, 7
    \step   \n, \row
.endr
.else
    \step   0, \row
.endif
.endm

// ld1 or st1 of a row's columns; the pointer advances to the next row.
.macro row_of_strip op, width, pointer
.if \width == 32
    \op     {v0.4s, v1.4s, v2.4s, v3.4s}, [\pointer], #64
    \op     {v4.4s, v5.4s, v6.4s, v7.4s}, [\pointer], rest
.elseif \width == 4
    \op     {v0.4s}, [\pointer], stride
.else
    \op     {v0.s}[0], [\pointer], stride
.endif
.endm

// Load the strip's columns of a vector to in0-in7, and advance \pointer; the second macro stores
// the sums to out.
.macro load_in width, pointer
.if \width == 32
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [\pointer], #64
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [\pointer], #64
.elseif \width == 4
    ld1     {v16.4s}, [\pointer], #16
.else
    ldr     s16, [\pointer], #4
.endif
.endm

.macro store_sums width
.if \width == 32
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [out], #64
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [out], #64
.elseif \width == 4
    st1     {v24.4s}, [out], #16
.else
    str     s24, [out], #4
.endif
.endm

.macro clear_sum n, row
    movi    sum\n\().4s, #0
.endm

.macro fade n, row
    fmul    state\n\().4s, state\n\().4s, decay
.endm

.macro write_in n, row
    fmla    state\n\().4s, in\n\().4s, writes[\row]
.endm

.macro read_out n, row
    fmla    sum\n\().4s, state\n\().4s, reads[\row]
.endm

// Run \of_row for all rows: in a wide strip in groups of four, for which \take_four loads four
// elements of the vectors at once; otherwise one by one with \take_one. \of_row leaves the flags
// unchanged.
.macro for_rows width, take_four, take_one, of_row
    mov     reader, strip
    mov     rows_left, n_rows
    for_strip \width, clear_sum
.if \width == 32
    subs    rows_left, rows_left, #4
    b.lo    .Lsingle\@
.Lfour\@:
    \take_four
    subs    rows_left, rows_left, #4
    \of_row \width, 0
    \of_row \width, 1
    \of_row \width, 2
    \of_row \width, 3
    b.hs    .Lfour\@
.Lsingle\@:
    add     rows_left, rows_left, #4
.endif
    cbz     rows_left, .Lend\@
.Lone\@:
    \take_one
    subs    rows_left, rows_left, #1
    \of_row \width, 0
    b.ne    .Lone\@
.Lend\@:
.endm

.macro take_four_reads
    ld1     {v9.4s}, [reads_at], #16
.endm

.macro take_one_read
    ldr     s9, [reads_at], #4
.endm

.macro take_four_both
    ld1     {v8.4s}, [writes_at], #16
    ld1     {v9.4s}, [reads_at], #16
.endm

.macro take_one_each
    ldr     s8, [writes_at], #4
    ldr     s9, [reads_at], #4
.endm

.macro read_row width, row
    row_of_strip ld1, \width, reader
    for_strip \width, read_out, \row
.endm

.macro step_row width, row
    row_of_strip ld1, \width, reader
    for_strip \width, fade
    for_strip \width, write_in, \row
    for_strip \width, read_out, \row
    row_of_strip st1, \width, writer
.endm

// sum = the products of the columns with the vector at \reads_from.
.macro read_strip width, reads_from
    mov     reads_at, \reads_from
    for_rows \width, take_four_reads, take_one_read, read_row
.endm

// state = decay * state + the vector at \writes_from * in; sum = the products of its columns with
// the vector at \reads_from.
.macro step_strip width, writes_from, reads_from
    mov     writer, strip
    mov     writes_at, \writes_from
    mov     reads_at, \reads_from
    for_rows \width, take_four_both, take_one_each, step_row
.endm

// Compute all columns in strips of \columns; `strip` does not change.
.macro for_columns columns
    subs    columns_left, columns_left, #32
    b.lo    .Lfours\@
.Lwide\@:
    \columns 32
    add     strip, strip, #128
    subs    columns_left, columns_left, #32
    b.hs    .Lwide\@
.Lfours\@:
    adds    columns_left, columns_left, #32 - 4
    b.mi    .Lones\@
.Lfour\@:
    \columns 4
    add     strip, strip, #16
    subs    columns_left, columns_left, #4
    b.pl    .Lfour\@
.Lones\@:
    adds    columns_left, columns_left, #4
    b.eq    .Ldone\@
.Lone\@:
    \columns 1
    add     strip, strip, #4
    subs    columns_left, columns_left, #1
    b.ne    .Lone\@
.Ldone\@:
.endm

#endif
