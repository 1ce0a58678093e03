/* Macros that several RVV kernels share. */
#ifndef INGOT_KERNELS_RISCV64_VECTOR_H
#define INGOT_KERNELS_RISCV64_VECTOR_H

#include "kernels/riscv64/asm.h"

/* vtype for lanes of f32 over 16 lanes in the smallest register group that holds them: m4 at
 * VLEN 128, m2 at 256, m1 above; tails undisturbed, so that a tail leaves the sums of its
 * missing lanes alone. Sets vl = 16; \vtype serves `vsetvl zero, n, \vtype` for a tail n < 16.
 * Register groups are allotted as for m4. */
.macro set_16_lanes vtype, temp
    csrr \temp, vlenb
    li \vtype, 0x12                    /* e32, m4, tu, mu */
    sltiu \temp, \temp, 32
    bnez \temp, 1f
    li \vtype, 0x11                    /* m2 */
    csrr \temp, vlenb
    sltiu \temp, \temp, 64
    bnez \temp, 1f
    li \vtype, 0x10                    /* m1 */
1:  li \temp, 16
    vsetvl zero, \temp, \vtype
.endm

/* Fold 16 lanes to one: upper half onto lower. vl is 16; lanes above the half hold leavings. */
.macro fold_16_lanes result, lanes, temp
    vslidedown.vi \temp, \lanes, 8
    vfadd.vv \lanes, \lanes, \temp
    vslidedown.vi \temp, \lanes, 4
    vfadd.vv \lanes, \lanes, \temp
    vslidedown.vi \temp, \lanes, 2
    vfadd.vv \lanes, \lanes, \temp
    vslidedown.vi \temp, \lanes, 1
    vfadd.vv \lanes, \lanes, \temp
    vfmv.f.s \result, \lanes
.endm

/* f32 from fp16, exact, infinities and NaNs included, as in ref/scalar.h. In e32: \half holds
 * fp16 in half the registers of \out. \scale_up = 2^112, \sign_magnitude = F16_SIGN_MAGNITUDE,
 * \largest = 0xf7ffffff (the largest finite fp16 shifted left by 17, with all below set),
 * \exponent = 0x7f800000. Needs mask undisturbed (mu). Clobbers v0 and \temp. */
.macro widen_f16 out, half, temp, scale_up, sign_magnitude, largest, exponent
    vsext.vf2 \temp, \half
    vsll.vi \out, \temp, 13
    vsll.vi \temp, \temp, 17           /* exponent and fraction alone, at the top */
    vand.vx \out, \out, \sign_magnitude
    vmsgtu.vx v0, \temp, \largest      /* infinity or NaN */
    vfmul.vf \out, \out, \scale_up
    vor.vx \out, \out, \exponent, v0.t
.endm

.macro widen_f16_constants scale_up, sign_magnitude, largest, exponent, temp
    load_float \scale_up, F32_2P112, \temp
    li \sign_magnitude, F16_SIGN_MAGNITUDE
    li \largest, 0xf7ffffff
    li \exponent, 0x7f800000
.endm

#endif
