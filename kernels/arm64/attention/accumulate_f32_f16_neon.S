// void accumulate_f32_f16_neon(float *o, const struct score_row *s, const uint16_t *v, size_t n_q,
//                              size_t n, size_t d)
//
// x0 o, from a strip's first dimension on; x1 s; x2 v, from a strip's first dimension on; x3 n_q;
// x4 n; x5 dimensions left; the rest as in panel_neon.h.
// Clobbers x0-x17, v0-v7, v16-v31; 4.1 KiB of stack.
//
// Takes strips of 16 dimensions, whose accumulators stay in registers for the whole tile, and then
// the remaining dimensions one by one. The kernel takes as long as score_f32_f16.
#include "kernels/arm64/attention/panel_neon.h"

#define outputs x0
#define weights x1
#define values x2
#define positions x4
#define dimensions_left x5

// Add one dimension, at outputs and values, for all rows.
.macro lone_dimension
    mov     mult_row, weights
    mov     out_row, outputs
    mov     rows_left, n_rows
.Lquery\@:
    ldr     s0, [mult_row, #SCORE_ROW_FACTOR]
    ldr     s16, [out_row]
    fmul    s16, s16, s0
    mov     mult0, mult_row
    mov     source, values
    mov     count, depth
    cbz     count, .Lsummed\@
.Lposition\@:
    ldr     h0, [source]
    ldr     s4, [mult0], #4
    add     source, source, source_stride
    subs    count, count, #1
    fcvt    s0, h0
    fmadd   s16, s4, s0, s16
    b.ne    .Lposition\@
.Lsummed\@:
    str     s16, [out_row]
    add     out_row, out_row, out_stride
    add     mult_row, mult_row, mult_stride
    subs    rows_left, rows_left, #1
    b.ne    .Lquery\@
.endm

func accumulate_f32_f16_neon
    cbz     n_rows, 5f
    save_panel_registers
    sub     sp, sp, #PANEL_KEPT
    .cfi_adjust_cfa_offset PANEL_KEPT
    lsl     source_stride, dimensions_left, #1
    lsl     out_stride, dimensions_left, #2
    mov     start_stride, out_stride
    mov     start_factor, #SCORE_ROW_FACTOR
    mov     mult_stride, #SCORE_ROW_BYTES
    mov     depth, positions
    subs    dimensions_left, dimensions_left, #16
    b.lo    2f
1:
    mov     source, values
    mov     mult_row, weights
    mov     out_row, outputs
    mov     start, outputs
    bl      panel_f16_neon
    add     outputs, outputs, #64
    add     values, values, #32
    subs    dimensions_left, dimensions_left, #16
    b.hs    1b
2:
    adds    dimensions_left, dimensions_left, #16
    b.eq    4f
3:
    lone_dimension
    add     outputs, outputs, #4
    add     values, values, #2
    subs    dimensions_left, dimensions_left, #1
    b.ne    3b
4:
    add     sp, sp, #PANEL_KEPT
    .cfi_adjust_cfa_offset -PANEL_KEPT
    restore_panel_registers
5:
    ret
endfunc accumulate_f32_f16_neon
