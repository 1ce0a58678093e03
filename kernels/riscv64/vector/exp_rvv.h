/* exp of a vector: the sequence of operations of exp_f32 in ref/scalar.h. */
#ifndef INGOT_KERNELS_RISCV64_EXP_RVV_H
#define INGOT_KERNELS_RISCV64_EXP_RVV_H

#include "kernels/riscv64/vector/vector_rvv.h"

/* Registers that exp_constants sets and exp_lanes reads. The caller may change fa0-fa2 and
 * ft8-ft11, but not exp_rebias. */
#define exp_lowest ft0    /* -104 */
#define exp_highest ft1   /* 89 */
#define exp_magic ft2     /* 1.5 * 2^23 */
#define exp_log2e ft3     /* 1 / ln 2 */
#define exp_ln2_high ft4  /* -ln 2 in two parts */
#define exp_ln2_low ft5
#define exp_c5 ft6        /* q(r), highest power first */
#define exp_c4 ft7
#define exp_c3 fa3
#define exp_c2 fa4
#define exp_half fa5
#define exp_one fa6
#define exp_rebias t6     /* 254 - the bits of magic: turns bits of z into n + 254 */

#define exp_gate_lowest ft0  /* -89 */
#define exp_gate_highest fa7 /* 32 */
#define exp_back ft1      /* for the shorter forms below: undoes their factor 2^64 or 2^-64 */

/* Each user has a copy of the table, which is read once per call. */
.section .rodata.exp_table, "a", @progbits
    .balign 4
.Lexp_table:
    .word 0xc2d00000, 0x42b20000, 0x4b400000 /* -104, 89, 1.5 * 2^23 */
    .word 0x3fb8aa3b, 0xbf317218, 0x3102e308 /* 1/ln 2; -0x1.62e430p-1, 0x1.05c610p-29 */
    .word 0x3ab6889e, 0x3c0905d1             /* 0x1.6d113cp-10, 0x1.120ba2p-7 */
    .word 0x3d2aaa8d, 0x3e2aaa6e             /* 0x1.55551ap-5, 0x1.5554dcp-3 */
    .word 0x3f000000, 0x3f800000             /* 0.5, 1 */
    .word 0x4b400040, 0x1f800000             /* 1.5 * 2^23 + 64, 2^-64 */
    .word 0x4b3fffc0, 0x5f800000             /* 1.5 * 2^23 - 64, 2^64 */
    .word 0xc2b20000, 0x42000000             /* -89, 32 */

.macro exp_coefficients temp
    lla \temp, .Lexp_table
    flw exp_log2e, 12(\temp)
    flw exp_ln2_high, 16(\temp)
    flw exp_ln2_low, 20(\temp)
    flw exp_c5, 24(\temp)
    flw exp_c4, 28(\temp)
    flw exp_c3, 32(\temp)
    flw exp_c2, 36(\temp)
    flw exp_half, 40(\temp)
    flw exp_one, 44(\temp)
.endm

.macro exp_constants temp
    exp_coefficients \temp
    flw exp_lowest, 0(\temp)
    flw exp_highest, 4(\temp)
    flw exp_magic, 8(\temp)
    li exp_rebias, 254 - F32_MAGIC
.endm

/* Load the constants of exp_of_fall. */
.macro exp_fall_constants temp
    exp_coefficients \temp
    flw exp_lowest, 0(\temp)
    flw exp_magic, 48(\temp)
    flw exp_back, 52(\temp)
.endm

/* Load the constants of exp_of_gate. */
.macro exp_gate_constants temp
    exp_coefficients \temp
    flw exp_magic, 56(\temp)
    flw exp_back, 60(\temp)
    flw exp_gate_lowest, 64(\temp)
    flw exp_gate_highest, 68(\temp)
.endm

/* \out = e^r of \rest = r, by vfmacc and vfmadd, or of \rest = -r by vfnmsac and vfmsub. Destroys
 * \temp. */
.macro exp_polynomial out, rest, temp, add_product, add_square
    vfmv.v.f \out, exp_c4
    \add_product\().vf \out, exp_c5, \rest
    vfmv.v.f \temp, exp_c3
    \add_product\().vv \temp, \out, \rest
    vfmv.v.f \out, exp_c2
    \add_product\().vv \out, \temp, \rest
    vfmv.v.f \temp, exp_half
    \add_product\().vv \temp, \out, \rest /* q(r) */
    vfmul.vv \out, \rest, \rest
    \add_square\().vv \out, \temp, \rest /* r^2 q(r) + r */
    vfadd.vf \out, \out, exp_one
.endm

/* \out = exp(\val), 25 instructions; \val, \whole and \temp are destroyed. */
.macro exp_lanes out, val, whole, temp
    vfmax.vf \val, \val, exp_lowest    /* a NaN becomes -104 */
    vfmin.vf \val, \val, exp_highest
    vfmv.v.f \whole, exp_magic
    vfmacc.vf \whole, exp_log2e, \val  /* z: the nearest integer n in its low bits */
    vfsub.vf \temp, \whole, exp_magic  /* n */
    vadd.vx \whole, \whole, exp_rebias /* n + 254 as an integer */
    vfmacc.vf \val, exp_ln2_high, \temp
    vfmacc.vf \val, exp_ln2_low, \temp /* r = x - n ln 2 */
    exp_polynomial \out, \val, \temp, vfmacc, vfmadd
    vsra.vi \temp, \whole, 1           /* floor(n / 2) + 127 */
    vsub.vv \whole, \whole, \temp      /* n - floor(n / 2) + 127 */
    vsll.vi \temp, \temp, 23           /* make both powers of two */
    vsll.vi \whole, \whole, 23
    vfmul.vv \out, \out, \temp
    vfmul.vv \out, \out, \whole
.endm

/* \out = exp(\val) for \val <= 0 or NaN, 20 instructions: n + 64 is a normal exponent, so one
 * product with 2^-64 replaces the two powers of two above. */
.macro exp_of_fall out, val, whole, temp
    vfmax.vf \val, \val, exp_lowest
    vfmv.v.f \whole, exp_magic         /* adds 64, which is even, so ties round as without it */
    vfmacc.vf \whole, exp_log2e, \val  /* n + 64 in its low bits */
    vfsub.vf \temp, \whole, exp_magic
    vfmacc.vf \val, exp_ln2_high, \temp
    vfmacc.vf \val, exp_ln2_low, \temp
    exp_polynomial \out, \val, \temp, vfmacc, vfmadd
    vsll.vi \whole, \whole, 23
    vadd.vv \out, \out, \whole         /* times 2^(n + 64), into the exponent */
    vfmul.vf \out, \out, exp_back
.endm

/* \out = 1 + exp(-\gate), 22 instructions, or 1 + exp(-(\gate + \low)) for a tiny \low. Gates are
 * limited to 32, where the result is 1 already, so n - 64 is a normal exponent. \gate
 * is not negated: it becomes -r, and its multiplier subtracts. */
.macro exp_of_gate out, gate, whole, temp, low
    vfmin.vf \gate, \gate, exp_gate_highest /* and a NaN becomes 32 */
    vfmax.vf \gate, \gate, exp_gate_lowest
    vfmv.v.f \whole, exp_magic
    vfnmsac.vf \whole, exp_log2e, \gate
    vfsub.vf \temp, \whole, exp_magic
    vfnmsac.vf \gate, exp_ln2_high, \temp
    vfnmsac.vf \gate, exp_ln2_low, \temp
    .ifnb \low
    vfadd.vv \gate, \gate, \low
    .endif
    exp_polynomial \out, \gate, \temp, vfnmsac, vfmsub
    vsll.vi \whole, \whole, 23
    vadd.vv \out, \out, \whole
    vfmul.vf \out, \out, exp_back
    vfadd.vf \out, \out, exp_one
.endm

/* \result = max of count floats at \at, or -infinity if count is 0. Clobbers \at, \count, \taken,
 * \bytes, v0-v15. */
.macro max_of result, at, count, taken, bytes
    load_float \result, F32_MINUS_INFINITY, \taken
    vsetvli \taken, zero, e32, m8, tu, ma
    vfmv.v.f v0, \result
.Lmax_step\@:
    vsetvli \taken, \count, e32, m8, tu, ma
    vle32.v v8, (\at)
    slli \bytes, \taken, 2
    sub \count, \count, \taken
    add \at, \at, \bytes
    vfmax.vv v0, v0, v8                /* ignores NaNs; a tail leaves the other lanes unchanged */
    bnez \count, .Lmax_step\@
    vsetvli \taken, zero, e32, m8, ta, ma
    vfmv.s.f v8, \result
    vfredmax.vs v8, v0, v8
    vfmv.f.s \result, v8
.endm

/* x = exp(x - \max) for \count floats at \at (0 is allowed), by the macro \exp. Clobbers \at,
 * \count, \taken, \bytes, v0-v31. */
.macro exp_all at, count, max, exp, taken, bytes
    beqz \count, .Lexp_end\@
.Lexp_step\@:
    vsetvli \taken, \count, e32, m8, ta, ma
    vle32.v v0, (\at)
    slli \bytes, \taken, 2
    sub \count, \count, \taken
    vfsub.vf v0, v0, \max
    \exp v24, v0, v8, v16
    vse32.v v24, (\at)
    add \at, \at, \bytes
    bnez \count, .Lexp_step\@
.Lexp_end\@:
.endm

#endif
