/* void accumulate_f32_q8_rv64gc(float *restrict o, const struct score_row *restrict s,
 *                               const void *restrict v, size_t n_q, size_t n, size_t d)
 *
 * a0 and a2 point to the strip's part of o and v, a1 s, a3 n_q, a4 n, then bytes of a position's scales, a5 dimensions left;
 * s10 scale of the next position, s11 of the strip's first; the rest as in panel_rv64gc.h. Clobbers
 * a0, a2, a4-a7, t0-t6, ft0-ft11, fa0-fa7; saves s0-s11 and fs0-fs11, and uses 2.2 KiB of stack.
 *
 * A strip is 8 dimensions. One position of three queries takes 51 instructions, 24 of
 * them products; with more queries, the first three take 60 and each further three 43. */
#include "kernels/riscv64/attention/panel_rv64gc.h"

#define scale_stride a4 /* first the argument n */
#define dims_left a5
#define scale_at s10
#define scales s11
#define scale ft7

.macro load_four at
    lb t3, \at(source_at)
    lb t4, \at + 1(source_at)
    lb t5, \at + 2(source_at)
    lb t6, \at + 3(source_at)
    fcvt.s.w ft0, t3
    fcvt.s.w ft1, t4
    fcvt.s.w ft2, t5
    fcvt.s.w ft3, t6
.endm

.macro check_four
.endm

.macro begin_strip
.endm

.macro end_strip slow
.endm

.macro keep_slowly
.endm

/* s[j] * scale[j] */
.macro load_mults count
    flw scale, 0(scale_at)
    load_score_mults \count
    add scale_at, scale_at, scale_stride
    fmul.s factor0, factor0, scale
    .if \count > 1
    fmul.s factor1, factor1, scale
    .endif
    .if \count > 2
    fmul.s factor2, factor2, scale
    .endif
.endm

.macro steps_begin
    mv scale_at, scales
.endm

.macro start_row row, factor, sums:vararg
    start_row_of_factor \row, \factor, \sums
.endm

func accumulate_f32_q8_rv64gc
    push_panel
    slli depth_bytes, scale_stride, 2
    slli out_stride, dims_left, 2
    mv source_stride, dims_left
    srli scale_stride, dims_left, 5
    slli scale_stride, scale_stride, 2
    li mult_stride, SCORE_ROW_BYTES
    mv scales, source
    slli temp, scale_stride, 6         /* of KV_TILE positions */
    add source, source, temp
    beqz n_rows, .Ldone
    beqz dims_left, .Ldone
.Lstrip:
    panel_rows
    addi out, out, 32
    addi source, source, 8
    addi dims_left, dims_left, -8
    andi temp, dims_left, 31
    bnez temp, .Lstrip
    addi scales, scales, 4             /* scales of the next 32 dimensions */
    bnez dims_left, .Lstrip
.Ldone:
    pop_panel
    ret
endfunc
