/* Macros that several RVV kernels share. */
#ifndef INGOT_KERNELS_RISCV64_VECTOR_RVV_H
#define INGOT_KERNELS_RISCV64_VECTOR_RVV_H

#include "kernels/riscv64/asm.h"

/* vtype for 16 lanes of f32 in the smallest register group that holds them: m4 at VLEN 128, m2 at
 * 256, m1 above; tails undisturbed, so that a tail does not change the sums of its missing lanes.
 * Sets vl = 16; \vtype serves `vsetvl zero, n, \vtype` for a tail n < 16. Register groups are
 * allotted as for m4. */
.macro set_16_lanes vtype, temp
    csrr \temp, vlenb
    li \vtype, 0x12                    /* e32, m4, tu, mu */
    sltiu \temp, \temp, 32
    bnez \temp, .Lset\@
    li \vtype, 0x11                    /* m2 */
    csrr \temp, vlenb
    sltiu \temp, \temp, 64
    bnez \temp, .Lset\@
    li \vtype, 0x10                    /* m1 */
.Lset\@:
    li \temp, 16
    vsetvl zero, \temp, \vtype
.endm

/* Fold 16 lanes to one, adding the upper half to the lower. vl is 16; lanes above the half hold old
 * values. */
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

/* \result = the sum of \count floats at \at, added in 16 lanes. Clobbers \at, \count, \end, \vtype,
 * \temp, v0-v7. */
.macro sum_16_lanes result, at, count, end, vtype, temp
    set_16_lanes \vtype, \temp
    vmv.v.i v0, 0
    andi \temp, \count, -16
    andi \count, \count, 15
    slli \temp, \temp, 2
    add \end, \at, \temp
    beq \at, \end, .Lsum_tail\@
.Lsum_step\@:
    vle32.v v4, (\at)
    addi \at, \at, 64
    vfadd.vv v0, v0, v4
    bne \at, \end, .Lsum_step\@
.Lsum_tail\@:
    beqz \count, .Lsum_fold\@
    vsetvl zero, \count, \vtype
    vle32.v v4, (\at)
    vfadd.vv v0, v0, v4
    li \temp, 16
    vsetvl zero, \temp, \vtype
.Lsum_fold\@:
    fold_16_lanes \result, v0, v4
.endm

#endif
