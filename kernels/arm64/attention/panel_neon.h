// out[r][0..16) += sum over k of mult[r][k] * source[k][0..16), k ascending by fma, for any number
// of rows r. Score and accumulate use this for one strip of 16 columns, up to 64 deep, at a time.
//
// Four rows at a time, with 16 accumulators, share each row of the source. If there are more than
// four rows, the first group saves the source as f32 in 4 KiB of stack from sp on, and later
// groups read it there: 74 instructions instead of 90 for 64 fma.
//
// A kernel that includes this defines these macros:
//     load_source                 v0-v3 = the next 16 columns as f32.
//     start_row mult, a, b, c, e  four accumulators of the next row, which may use v7.
// The kernel also sets the registers below, except count, kept and mult0-mult3.
#ifndef INGOT_KERNELS_ARM64_PANEL_NEON_H
#define INGOT_KERNELS_ARM64_PANEL_NEON_H

#include "kernels/arm64/asm.h"

#define n_rows x3
#define mult_row x6      /* multipliers of the first row of a group */
#define mult_stride x7   /* bytes */
#define out_row x8
#define mult0 x9
#define mult1 x10
#define mult2 x11
#define mult3 x12
#define source x13       /* at the end it points past the strip's last row */
#define source_stride x14
#define kept x15
#define count x16
#define depth x17
#define start x19        /* start values of the first row's accumulators */
#define start_stride x20 /* this and start_factor are only for panel_f16_neon */
#define out_stride x21
#define rows_left x24
#define start_factor x25

#define PANEL_DEPTH 64
#define PANEL_KEPT (64 * PANEL_DEPTH) /* bytes: 16 columns of f32 */

.macro save_panel_registers
    push_pair x19, x20, 64
    save_pair x21, x22, 16
    save_pair x23, x24, 32
    save_pair x25, x30, 48
.endm

.macro restore_panel_registers
    restore_pair x21, x22, 16
    restore_pair x23, x24, 32
    restore_pair x25, x30, 48
    pop_pair x19, x20, 64
.endm

// v0-v3 = 16 fp16 of the source
.macro load_halves
    ld1     {v0.8h, v1.8h}, [source], source_stride
    fcvtl2  v3.4s, v1.8h
    fcvtl   v2.4s, v1.4h
    fcvtl2  v1.4s, v0.8h
    fcvtl   v0.4s, v0.4h
.endm

.macro panel_source how
.ifc \how, kept
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [kept], #64
.else
    load_source
.ifc \how, keep
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [kept], #64
.endif
.endif
.endm

.macro panel_fma a, b, c, e, mult
    fmla    \a\().4s, v0.4s, \mult
    fmla    \b\().4s, v1.4s, \mult
    fmla    \c\().4s, v2.4s, \mult
    fmla    \e\().4s, v3.4s, \mult
.endm

// Do one step of k; the multipliers are element i of v4-v7.
.macro panel_step rows, how, i
    panel_source \how
    panel_fma v16, v17, v18, v19, v4.s[\i]
.if \rows > 1
    panel_fma v20, v21, v22, v23, v5.s[\i]
.endif
.if \rows > 2
    panel_fma v24, v25, v26, v27, v6.s[\i]
.endif
.if \rows > 3
    panel_fma v28, v29, v30, v31, v7.s[\i]
.endif
.endm

.macro panel_start rows
    mov     mult0, mult_row
    start_row mult0, v16, v17, v18, v19
    add     mult_row, mult_row, mult_stride
.if \rows > 1
    mov     mult1, mult_row
    start_row mult1, v20, v21, v22, v23
    add     mult_row, mult_row, mult_stride
.endif
.if \rows > 2
    mov     mult2, mult_row
    start_row mult2, v24, v25, v26, v27
    add     mult_row, mult_row, mult_stride
.endif
.if \rows > 3
    mov     mult3, mult_row
    start_row mult3, v28, v29, v30, v31
    add     mult_row, mult_row, mult_stride
.endif
.endm

.macro panel_store rows
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [out_row], out_stride
.if \rows > 1
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [out_row], out_stride
.endif
.if \rows > 2
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [out_row], out_stride
.endif
.if \rows > 3
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [out_row], out_stride
.endif
.endm

// how: load (from the source), keep (load and save), kept (from the saved copy)
.macro panel rows, how
    panel_start \rows
    lsr     count, depth, #2
    cbz     count, .Lragged\@
.Lfour\@:
    ld1     {v4.4s}, [mult0], #16
.if \rows > 1
    ld1     {v5.4s}, [mult1], #16
.endif
.if \rows > 2
    ld1     {v6.4s}, [mult2], #16
.endif
.if \rows > 3
    ld1     {v7.4s}, [mult3], #16
.endif
    sub     count, count, #1
    panel_step \rows, \how, 0
    panel_step \rows, \how, 1
    panel_step \rows, \how, 2
    panel_step \rows, \how, 3
    cbnz    count, .Lfour\@
.Lragged\@:
    ands    count, depth, #3
    b.eq    .Lstore\@
.Lone\@:
    ldr     s4, [mult0], #4
.if \rows > 1
    ldr     s5, [mult1], #4
.endif
.if \rows > 2
    ldr     s6, [mult2], #4
.endif
.if \rows > 3
    ldr     s7, [mult3], #4
.endif
    sub     count, count, #1
    panel_step \rows, \how, 0
    cbnz    count, .Lone\@
.Lstore\@:
    panel_store \rows
.endm

// Compute all n_rows >= 1 rows of a strip.
.macro panel_rows
    subs    rows_left, n_rows, #4
    b.hi    .Lmany\@
    b.eq    .Lfour\@
    cmp     n_rows, #2
    b.hi    .Lthree\@
    b.eq    .Ltwo\@
    panel   1, load
    b       .Ldone\@
.Ltwo\@:
    panel   2, load
    b       .Ldone\@
.Lthree\@:
    panel   3, load
    b       .Ldone\@
.Lfour\@:
    panel   4, load
    b       .Ldone\@
.Lmany\@:
    mov     kept, sp
    panel   4, keep
.Lnext_four\@:
    subs    rows_left, rows_left, #4
    b.lo    .Lmany_left\@
    mov     kept, sp
    panel   4, kept
    b       .Lnext_four\@
.Lmany_left\@:
    adds    rows_left, rows_left, #4
    b.eq    .Ldone\@
    mov     kept, sp
    cmp     rows_left, #2
    b.hi    .Lthree_left\@
    b.eq    .Ltwo_left\@
    panel   1, kept
    b       .Ldone\@
.Ltwo_left\@:
    panel   2, kept
    b       .Ldone\@
.Lthree_left\@:
    panel   3, kept
.Ldone\@:
.endm

#endif
