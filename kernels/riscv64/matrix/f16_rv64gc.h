/* fp16 to f32 in scalar registers, four at a time, for up to three queries that use them.
 *
 * The results are correct for finite values. An infinity or NaN becomes 65536 or more, and its
 * product with 2^112 raises the overflow flag; the kernel then computes the same sums again with
 * widen_any. */
#ifndef INGOT_KERNELS_RISCV64_F16_RV64GC_H
#define INGOT_KERNELS_RISCV64_F16_RV64GC_H

#include "kernels/riscv64/asm.h"

#define sign_bits t2   /* F16_SIGN_MAGNITUDE */
#define bits0 t3
#define bits1 t4
#define bits2 t5
#define bits3 t6
/* ft0-ft3: the four values. ft4-ft6: the queries' factors. Sums: fa0-fa3, fa4-fa7 and ft8-ft11 of
 * the first, second and third query. */
#define scale_up ft7   /* 2^112 */

.macro widen_start temp
    load_float scale_up, F32_2P112, \temp
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

/* ft0 and on = the \lanes (4 or 1) halves at \at. */
.macro widen_lanes lanes, at
    .if \lanes == 4
    lh bits0, 0(\at)
    lh bits1, 2(\at)
    lh bits2, 4(\at)
    lh bits3, 6(\at)
    .irp bits, bits0, bits1, bits2, bits3
    widen_shift \bits
    .endr
    fmv.w.x ft0, bits0
    fmv.w.x ft1, bits1
    fmv.w.x ft2, bits2
    fmv.w.x ft3, bits3
    fmul.s ft0, ft0, scale_up
    fmul.s ft1, ft1, scale_up
    fmul.s ft2, ft2, scale_up
    fmul.s ft3, ft3, scale_up
    .else
    lh bits0, 0(\at)
    widen_shift bits0
    fmv.w.x ft0, bits0
    fmul.s ft0, ft0, scale_up
    .endif
.endm

.macro widen_shift bits
    slli \bits, \bits, 13
    and \bits, \bits, sign_bits
.endm

.macro add_products lanes, factor, sum0, sum1, sum2, sum3
    fmadd.s \sum0, \factor, ft0, \sum0
    .if \lanes == 4
    fmadd.s \sum1, \factor, ft1, \sum1
    fmadd.s \sum2, \factor, ft2, \sum2
    fmadd.s \sum3, \factor, ft3, \sum3
    .endif
.endm

/* Do one step of \count queries, whose factors are in ft4-ft6. */
.macro add_queries count, lanes
    add_products \lanes, ft4, fa0, fa1, fa2, fa3
    .if \count > 1
    add_products \lanes, ft5, fa4, fa5, fa6, fa7
    .endif
    .if \count > 2
    add_products \lanes, ft6, ft8, ft9, ft10, ft11
    .endif
    fmul.s ft0, ft0, scale_up
    .if \lanes == 4
    fmul.s ft1, ft1, scale_up
    fmul.s ft2, ft2, scale_up
    fmul.s ft3, ft3, scale_up
    .endif
.endm

/* ft0 = the half at \at, correct for all values. Clobbers bits0, bits1. */
.macro widen_any at
    lh bits0, 0(\at)
    slli bits1, bits0, 49              /* exponent and fraction, at the top */
    srli bits1, bits1, 59
    widen_shift bits0
    addi bits1, bits1, -31
    bnez bits1, .Lfinite\@
    lui bits1, 0x7f800
    or bits0, bits0, bits1             /* an infinity times 2^112 stays an infinity */
.Lfinite\@:
    fmv.w.x ft0, bits0
    fmul.s ft0, ft0, scale_up
.endm

#endif
