/* Shared by the scalar gemvs. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMV_RV64GC_H

#include "kernels/riscv64/asm.h"

#define dst a0
#define block a1       /* groups follow each other without a gap, and so do their blocks */
#define act_start a2
#define rows_left a3
#define act_end a4     /* first the argument cols */
#define act a5
#define sign_bits a6   /* F16_SIGN_MAGNITUDE */

#define scale_up ft8   /* 2^112 */
#define act_scale ft9
/* fa0-fa7: the sums of the 8 rows. */

.macro load_constants temp
    load_float scale_up, F32_2P112, \temp
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

/* Set the constants and act_end; \temp and \bytes are free registers. */
.macro start_rows temp, bytes
    srli act_end, act_end, 5
    li \bytes, Q8_BYTES
    mul act_end, act_end, \bytes
    add act_end, act_end, act_start
    load_constants \temp
.endm

.macro clear_sums
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fmv.w.x fa\n, zero
    .endr
.endm

/* sum = \fma((float)dot, scale * x.d, sum) for four rows from \first on, interleaved to hide the
 * latencies. Clobbers ft0-ft7 and the four \word. */
.macro finish_rows first, dot0, dot1, dot2, dot3, sum0, sum1, sum2, sum3, word0, word1, word2, word3, fma=fmadd.s
    lh \word0, 2*\first + 0(block)
    lh \word1, 2*\first + 2(block)
    lh \word2, 2*\first + 4(block)
    lh \word3, 2*\first + 6(block)
    .irp word, \word0, \word1, \word2, \word3
    slli \word, \word, 13
    .endr
    .irp word, \word0, \word1, \word2, \word3
    and \word, \word, sign_bits
    .endr
    fmv.w.x ft0, \word0
    fmv.w.x ft1, \word1
    fmv.w.x ft2, \word2
    fmv.w.x ft3, \word3
    .irp scale, ft0, ft1, ft2, ft3
    fmul.s \scale, \scale, scale_up
    .endr
    fcvt.s.w ft4, \dot0
    fcvt.s.w ft5, \dot1
    fcvt.s.w ft6, \dot2
    fcvt.s.w ft7, \dot3
    .irp scale, ft0, ft1, ft2, ft3
    fmul.s \scale, \scale, act_scale
    .endr
    \fma \sum0, ft4, ft0, \sum0
    \fma \sum1, ft5, ft1, \sum1
    \fma \sum2, ft6, ft2, \sum2
    \fma \sum3, ft7, ft3, \sum3
.endm

/* Store the rows that exist; branch to \done after the last one. */
.macro store_sums done
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fsw fa\n, 4*\n(dst)
    addi rows_left, rows_left, -1
    beqz rows_left, \done
    .endr
    addi dst, dst, 32
.endm

#endif
