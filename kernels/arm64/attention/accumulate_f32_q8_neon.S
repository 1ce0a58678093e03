// void accumulate_f32_q8_neon(float *o, const struct score_row *s, const void *v, size_t n_q,
//                             size_t n, size_t d)
//
// x0 o, from a strip's first dimension on; x1 s; x2 scales of the block; x3 n_q; x4 v, from a
// strip's first dimension on; x5 dimensions left;
// x20 blocks of 16 positions, x22, x23, x25 scratch; the rest as in panel_neon.h.
// Clobbers x0-x17, v0-v7, v16-v31; 5.3 KiB of stack.
//
// Works like accumulate_f32_f16, but converts values to floats, and computes
// multipliers s[j] * scale[j] for four rows at a time. Stack: panel_neon.h's strip,
// 64 scales of the block, four rows of multipliers. 4 queries, 16 dimensions and 4
// positions take 114 instructions, 64 of them fma; each further 4 queries take 74.
#include "kernels/arm64/attention/panel_neon.h"

#define outputs x0
#define weights x1
#define scales x2
#define positions x4            /* first n, then the address of values */
#define values x4
#define dimensions_left x5
#define blocks x20
#define scale_at x22
#define weight_at x23
#define row_at x25
#define SCALES_BYTES (4 * KV_TILE)
#define ROOM (5 * SCALES_BYTES) /* scales of the block, multipliers of four rows */

.macro load_source
    ld1     {v0.16b}, [source], source_stride
    sshll2  v2.8h, v0.16b, #0
    sshll   v0.8h, v0.8b, #0
    sshll2  v3.4s, v2.8h, #0
    sshll   v2.4s, v2.4h, #0
    sshll2  v1.4s, v0.8h, #0
    sshll   v0.4s, v0.4h, #0
    scvtf   v3.4s, v3.4s
    scvtf   v2.4s, v2.4s
    scvtf   v1.4s, v1.4s
    scvtf   v0.4s, v0.4s
.endm

// Load a row's start values, multiply them by the row's factor, compute the row's multipliers,
// and point `mult` to them.
.macro start_row mult, a, b, c, e
    ldr     s7, [\mult, #SCORE_ROW_FACTOR]
    ld1     {\a\().4s, \b\().4s, \c\().4s, \e\().4s}, [start], out_stride
    fmul    \a\().4s, \a\().4s, v7.s[0]
    fmul    \b\().4s, \b\().4s, v7.s[0]
    fmul    \c\().4s, \c\().4s, v7.s[0]
    fmul    \e\().4s, \e\().4s, v7.s[0]
.ifc \mult, mult0
    add     weight_at, sp, #PANEL_KEPT
    add     weight_at, weight_at, #SCALES_BYTES
.endif
    bl      make_multipliers
    sub     \mult, weight_at, blocks, lsl #6
.endm

// For the row at mult_row, store all s[j] * scale[j] from weight_at on. Clobbers x16, x25, v0-v7.
.macro make_row_multipliers
    mov     row_at, mult_row
    add     scale_at, sp, #PANEL_KEPT
    mov     count, blocks
    cbz     count, .Lmade\@
.Lpositions\@:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [row_at], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [scale_at], #64
    sub     count, count, #1
    fmul    v0.4s, v0.4s, v4.4s
    fmul    v1.4s, v1.4s, v5.4s
    fmul    v2.4s, v2.4s, v6.4s
    fmul    v3.4s, v3.4s, v7.4s
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [weight_at], #64
    cbnz    count, .Lpositions\@
.Lmade\@:
.endm

// Copy the block's scale of each position to the stack,
// 16 at a time; the tile always holds whole groups of 16.
.macro gather_scales
    mov     source, scales
    add     scale_at, sp, #PANEL_KEPT
    lsl     count, blocks, #2
    cbz     count, .Lgathered\@
.Lpositions\@:
    ld1     {v0.s}[0], [source], mult0
    ld1     {v0.s}[1], [source], mult0
    ld1     {v0.s}[2], [source], mult0
    ld1     {v0.s}[3], [source], mult0
    sub     count, count, #1
    st1     {v0.4s}, [scale_at], #16
    cbnz    count, .Lpositions\@
.Lgathered\@:
    add     scales, scales, #4
.endm

func accumulate_f32_q8_neon
    cbz     n_rows, 4f
    cbz     dimensions_left, 4f
    save_panel_registers
    sub     sp, sp, #PANEL_KEPT
    sub     sp, sp, #ROOM
    .cfi_adjust_cfa_offset PANEL_KEPT + ROOM
    mov     depth, positions
    add     blocks, depth, #15
    lsr     blocks, blocks, #4
    mov     source_stride, dimensions_left
    lsl     out_stride, dimensions_left, #2
    mov     mult_stride, #SCORE_ROW_BYTES
    add     values, scales, dimensions_left, lsl #3 // KV_TILE * d / 32 floats
1:
    tbnz    dimensions_left, #4, 2f             // a block's second strip: scales are there
    lsr     mult0, source_stride, #3            // bytes from a position's scale to the next
    gather_scales
2:
    mov     source, values
    mov     mult_row, weights
    mov     out_row, outputs
    mov     start, outputs
    panel_rows
    add     outputs, outputs, #64
    add     values, values, #16
    subs    dimensions_left, dimensions_left, #16
    b.ne    1b
    add     sp, sp, #PANEL_KEPT
    add     sp, sp, #ROOM
    .cfi_adjust_cfa_offset -(PANEL_KEPT + ROOM)
    restore_panel_registers
4:
    ret
make_multipliers:
    make_row_multipliers
    ret
endfunc accumulate_f32_q8_neon
