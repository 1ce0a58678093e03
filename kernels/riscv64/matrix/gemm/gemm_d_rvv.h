/* Macros for the RVV gemms of gemm_k_rvv.h whose weights have scales and no mins. A kernel that
 * includes this defines D_AT in the scratch. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_D_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_D_RVV_H

#include "kernels/riscv64/matrix/gemm/gemm_k_rvv.h"
#include "kernels/riscv64/matrix/gemm/gemm_sums_rvv.h"

#define scale_up ft0   /* 2^112, negative for weights that are stored negated */

/* Convert the scales d of 8 rows at act to floats at step, and advance step. */
.macro decode_d
    vsetivli zero, 8, e16, m1, ta, ma
    vle16.v v0, (act)
    li temp, 1 << 13
    vwmul.vx v4, v0, temp              /* sign-extended and shifted left by 13 */
    li temp, F16_SIGN_MAGNITUDE
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx v4, v4, temp
    vfmul.vf v4, v4, scale_up
    vse32.v v4, (step)
    addi step, step, 32
.endm

/* y = fma(isum, d * x.d, y) for the half of the rows that starts temp bytes after the first row; y
 * is at chunk_out. */
.macro finish_half token, half_rows
    vsetvli zero, \half_rows, e32, m8, ta, ma
    scratch column_at, D_AT
    add column_at, column_at, temp
    add temp_1, acc, temp
    add temp, temp, chunk_out
    vle32.v v8, (temp_1)
    vle32.v v16, (column_at)
    vle32.v v24, (temp)
    vfcvt.f.x.v v8, v8
    vfmul.vf v16, v16, act_scale
    vfmacc.vv v24, v8, v16
    vse32.v v24, (temp)
.endm

.macro second_half
    slli temp, rows_low, 2
.endm

.macro begin_chunk
    clear_sums
.endm

#endif
