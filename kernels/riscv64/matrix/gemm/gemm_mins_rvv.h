/* The scales of a tile for the RVV gemms of the K formats with mins. A kernel that includes this
 * defines SCALES_AT, MINS_AT, D_AT and DMIN_AT in the scratch. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_MINS_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_MINS_RVV_H

#include "kernels/riscv64/matrix/gemm/gemm_k_rvv.h"

#define scale_up ft0   /* 2^112 */

/* Convert d and dmin of 8 rows at act to floats at step. */
.macro decode_d
    vsetivli zero, 16, e16, m2, ta, ma
    vle16.v v0, (act)                  /* d and dmin */
    li temp, 1 << 13
    vwmul.vx v4, v0, temp              /* sign-extended and shifted left by 13 */
    li temp, F16_SIGN_MAGNITUDE
    vsetvli zero, zero, e32, m4, ta, ma
    vand.vx v4, v4, temp
    vfmul.vf v4, v4, scale_up
    vslidedown.vi v0, v4, 8
    vsetivli zero, 8, e32, m4, ta, ma
    vse32.v v4, (step)
    addi temp_1, step, DMIN_AT - D_AT
    vse32.v v0, (temp_1)
.endm

/* Decode scales, mins, d and dmin of the tile's block, for K45 types. */
.macro decode_six_bits
    mv act, group_at
    mv tokens_left, rows
    scratch out, SCALES_AT
    scratch step, D_AT
.Lgroup\@:
    li temp, 32
    vsetvli zero, temp, e8, m2, ta, ma
    addi temp_1, act, K45_SCALES
    vle8.v v0, (temp_1)                /* sub-blocks 0-3 */
    addi temp_1, temp_1, 32
    vle8.v v2, (temp_1)                /* 4-7 */
    addi temp_1, temp_1, 32
    vle8.v v4, (temp_1)
    li temp, 63
    vand.vi v6, v4, 15
    vsrl.vi v4, v4, 4
    vsll.vi v6, v6, 2
    vsll.vi v4, v4, 2
    vsrl.vi v8, v0, 6
    vsrl.vi v10, v2, 6
    vor.vv v8, v8, v6
    vor.vv v10, v10, v4
    vand.vx v0, v0, temp
    vand.vx v2, v2, temp
    li temp, TILE
    vsetivli zero, 4, e64, m2, ta, ma
    vsse64.v v0, (out), temp
    addi temp_1, out, 4 * TILE
    vsse64.v v2, (temp_1), temp
    addi temp_1, out, MINS_AT - SCALES_AT
    vsse64.v v8, (temp_1), temp
    addi temp_1, temp_1, 4 * TILE
    vsse64.v v10, (temp_1), temp
    addi out, out, 8
    decode_d
    addi step, step, 32
    add act, act, row_bytes
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
.endm

#endif
