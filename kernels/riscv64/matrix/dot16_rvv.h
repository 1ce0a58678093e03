/* Dot products in 16 lanes of rows of f32 or fp16 with f32, for the gemvs and gemms of RVV.
 *
 * \type is f32, f16 or zvfh (fp16 with Zvfhmin). \slices is the number of groups of 16 lanes in 8
 * registers, 2 at VLEN 128 and 4 at 256: a step loads 8 registers of weights and of x and
 * multiplies them slice by slice. At larger VLEN, and for the remaining columns, a step is one
 * slice.
 *
 * fp16 without Zvfhmin is widened as in f16_rvv.h. An infinity or NaN raises the overflow flag when
 * the step's weights are multiplied by 2^112 again, which the next step does before it loads. */
#ifndef INGOT_KERNELS_RISCV64_DOT16_RVV_H
#define INGOT_KERNELS_RISCV64_DOT16_RVV_H

#include "kernels/riscv64/vector/vector_rvv.h"

#define sign_bits t6   /* F16_SIGN_MAGNITUDE */
#define temp t5
#define scale_up ft0   /* 2^112 */

#define weight_lanes v0 /* m8 */
#define weights_f16 v4 /* their upper half */
#define acts v8        /* m8 */
#define slice_f16 v12  /* of a single slice */
#define sum0 v16       /* 16 lanes each */
#define sum1 v20
#define sum2 v24
#define sum3 v28

/* Set vl to 16 floats in the smallest register group. */
.macro set_lanes slices
    .if \slices == 2
    vsetivli zero, 16, e32, m4, ta, mu
    .elseif \slices == 4
    vsetivli zero, 16, e32, m2, ta, mu
    .else
    vsetivli zero, 16, e32, m1, ta, mu
    .endif
.endm

.macro set_slices slices
    li temp, 16*\slices
    vsetvli zero, temp, e32, m8, ta, mu
.endm

.macro narrow_type slices
    .if \slices == 2
    vsetvli zero, zero, e16, m2, ta, mu
    .elseif \slices == 4
    vsetvli zero, zero, e16, m1, ta, mu
    .else
    vsetvli zero, zero, e16, mf2, ta, mu
    .endif
.endm

.macro widen_finite out, half
    vsext.vf2 \out, \half
    vsll.vi \out, \out, 13
    vand.vx \out, \out, sign_bits
    vfmul.vf \out, \out, scale_up
.endm

/* weights = a step of \type at \at. Leaves vl = 16. */
.macro load_step type, slices, at
    .ifc \type, f32
    vl8re32.v weight_lanes, (\at)
    .endif
    .ifc \type, f16
    set_slices \slices
    vfmul.vf weight_lanes, weight_lanes, scale_up /* sets a flag if the last step had inf or NaN */
    vle16.v weights_f16, (\at)
    widen_finite weight_lanes, weights_f16
    set_lanes \slices
    .endif
    .ifc \type, zvfh
    li temp, 16*\slices
    vsetvli zero, temp, e16, m4, ta, mu
    vle16.v weights_f16, (\at)
    vfwcvt.f.f.v weight_lanes, weights_f16
    set_lanes \slices
    .endif
.endm

/* weights = 16 of \type at \at; vl = 16 before and after. */
.macro load_slice type, slices, at
    .ifc \type, f32
    vle32.v weight_lanes, (\at)
    .endif
    .ifc \type, f16
    vle16.v slice_f16, (\at)
    widen_finite weight_lanes, slice_f16
    .endif
    .ifc \type, zvfh
    narrow_type \slices
    vle16.v slice_f16, (\at)
    vfwcvt.f.f.v weight_lanes, slice_f16
    set_lanes \slices
    .endif
.endm

/* sum += weights * acts, for one step. */
.macro multiply_step slices, sum
    .if \slices == 2
    vfmacc.vv \sum, v0, v8
    vfmacc.vv \sum, v4, v12
    .else
    vfmacc.vv \sum, v0, v8
    vfmacc.vv \sum, v2, v10
    vfmacc.vv \sum, v4, v12
    vfmacc.vv \sum, v6, v14
    .endif
.endm

.macro flag_slice type
    .ifc \type, f16
    vfmul.vf weight_lanes, weight_lanes, scale_up
    .endif
.endm

/* Mark that no weights are pending, because load_step first sets the flags of the previous step. */
.macro clear_pending type, slices
    .ifc \type, f16
    fsflagsi 0
    .if \slices > 1
    set_slices \slices
    vmv.v.i weight_lanes, 0
    set_lanes \slices
    .endif
    .endif
.endm

.macro flag_pending type, slices
    .ifc \type, f16
    set_slices \slices
    vfmul.vf weight_lanes, weight_lanes, scale_up
    set_lanes \slices
    .endif
.endm

/* Branch to \to unless a weight was infinite or NaN. */
.macro branch_if_finite type, to
    .ifc \type, f16
    frflags temp
    andi temp, temp, FLAG_OVERFLOW
    beqz temp, \to
    .else
    j \to
    .endif
.endm

/* \result = the dot product of fp16 from \at to \end with f32 at \act, correct for all values. vl =
 * 16; clobbers \at, \act, v0-v23. */
.macro slow_dot result, at, end, act
    vmv.v.i sum0, 0
.Lslow_step\@:
    vle16.v v20, (\at)
    vle32.v acts, (\act)
    vsext.vf2 v12, v20
    vsll.vi v4, v12, 13
    vsll.vi v12, v12, 17               /* keeps only exponent and fraction, at the top */
    vand.vx v4, v4, sign_bits
    li temp, F16_LARGEST 
    vmsgtu.vx v0, v12, temp
    lui temp, 0x7f800
    vfmul.vf v4, v4, scale_up
    vor.vx v4, v4, temp, v0.t
    addi \at, \at, 32
    addi \act, \act, 64
    vfmacc.vv sum0, v4, acts
    bne \at, \end, .Lslow_step\@
    fold_16_lanes \result, sum0, v4
.endm

.macro widen_constants type
    .ifc \type, f16
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    .endif
.endm

/* Run the variant of the kernel's macro `all_rows type, slices` for the CPU's VLEN. All variants go
 * on at .Ldone, which follows. */
.macro all_rows_by_vlen type
    csrr temp, vlenb
    addi temp, temp, -16
    beqz temp, .Lvlen_128
    addi temp, temp, -16
    beqz temp, .Lvlen_256
    all_rows \type, 1
.Lvlen_128:
    all_rows \type, 2
.Lvlen_256:
    all_rows \type, 4
.Ldone:
.endm

#endif
