/* exp without vectors: the sequence of operations of exp_f32 in ref/scalar.h, four numbers side by
 * side, because each step waits for the previous one. Four numbers x are in
 * fa0-fa3, z in ft0-ft3 with its bits in t0-t3, and the power in fs0-fs3. */
#ifndef INGOT_KERNELS_RISCV64_EXP_RV64GC_H
#define INGOT_KERNELS_RISCV64_EXP_RV64GC_H

#include "kernels/riscv64/asm.h"

/* Constants, which exp_begin sets. */
#define exp_log2e fs4     /* 1 / ln 2 */
#define exp_ln2_high fs5  /* -ln 2 in two parts */
#define exp_ln2_low fs6
#define exp_c5 fs7        /* q(r), highest power first */
#define exp_c4 fs8
#define exp_c3 fs9
#define exp_c2 fs10
#define exp_half fs11
#define exp_one ft8
#define exp_magic ft9     /* 1.5 * 2^23 + 64; for gates - 64 */
#define exp_back ft10     /* 2^-64; for gates 2^64 */
#define exp_lowest ft11   /* -104; for gates -89 */
#define exp_highest fa7   /* for gates 32 */

#define EXP_SAVED 96

/* Each user has a copy of the table, which is read once per call. */
.section .rodata.exp_rv64gc_table, "a", @progbits
    .balign 4
.Lexp_table:
    .word 0x3fb8aa3b, 0xbf317218, 0x3102e308 /* 1/ln 2; -0x1.62e430p-1, 0x1.05c610p-29 */
    .word 0x3ab6889e, 0x3c0905d1             /* 0x1.6d113cp-10, 0x1.120ba2p-7 */
    .word 0x3d2aaa8d, 0x3e2aaa6e             /* 0x1.55551ap-5, 0x1.5554dcp-3 */
    .word 0x3f000000, 0x3f800000             /* 0.5, 1 */
.Lexp_of_falls:
    .word 0x4b400040, 0x1f800000, 0xc2d00000 /* 1.5 * 2^23 + 64, 2^-64, -104 */
.Lexp_of_gates:
    .word 0x4b3fffc0, 0x5f800000, 0xc2b20000 /* 1.5 * 2^23 - 64, 2^64, -89 */
    .word 0x42000000                         /* 32 */

/* kind: falls or gates. Saves fs0-fs11 on the stack. */
.macro exp_begin kind, at
    addi sp, sp, -EXP_SAVED
    .cfi_adjust_cfa_offset EXP_SAVED
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fsd fs\n, 8*\n(sp)
    .cfi_rel_offset fs\n, 8*\n
    .endr
    lla \at, .Lexp_table
    flw exp_log2e, 0(\at)
    flw exp_ln2_high, 4(\at)
    flw exp_ln2_low, 8(\at)
    flw exp_c5, 12(\at)
    flw exp_c4, 16(\at)
    flw exp_c3, 20(\at)
    flw exp_c2, 24(\at)
    flw exp_half, 28(\at)
    flw exp_one, 32(\at)
    lla \at, .Lexp_of_\kind
    flw exp_magic, 0(\at)
    flw exp_back, 4(\at)
    flw exp_lowest, 8(\at)
    .ifc \kind, gates
    flw exp_highest, 12(\at)
    .endif
.endm

.macro exp_end
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fld fs\n, 8*\n(sp)
    .cfi_restore fs\n
    .endr
    addi sp, sp, EXP_SAVED
    .cfi_adjust_cfa_offset -EXP_SAVED
.endm

/* fs0-fs3 = 2^n e^r, with n from z in ft0-ft3; r is in fa0-fa3 with fmadd and fmadd, -r with
 * fnmsub and fmsub. Adds n and z's 64 to the exponent of e^r; exp_back removes 2^64 or 2^-64. */
.macro exp_polynomial add_product, add_square
    .irp n, 0, 1, 2, 3
    \add_product\().s fs\n, fa\n, exp_c5, exp_c4
    .endr
    .irp n, 0, 1, 2, 3
    fmv.x.w t\n, ft\n
    \add_product\().s fs\n, fs\n, fa\n, exp_c3
    .endr
    .irp n, 0, 1, 2, 3
    slliw t\n, t\n, 23
    \add_product\().s fs\n, fs\n, fa\n, exp_c2
    .endr
    .irp n, 0, 1, 2, 3
    fmul.s ft\n, fa\n, fa\n
    \add_product\().s fs\n, fs\n, fa\n, exp_half /* q(r) */
    .endr
    .irp n, 0, 1, 2, 3
    \add_square\().s fs\n, fs\n, ft\n, fa\n /* r^2 q(r) + r */
    .endr
    .irp n, 0, 1, 2, 3
    fadd.s fs\n, fs\n, exp_one
    .endr
    fmv.x.w t4, fs0                    /* multiply by 2^n, in the exponent */
    fmv.x.w t5, fs1
    fmv.x.w t6, fs2
    addw t0, t0, t4
    fmv.x.w t4, fs3
    addw t1, t1, t5
    addw t2, t2, t6
    addw t3, t3, t4
    .irp n, 0, 1, 2, 3
    fmv.w.x fs\n, t\n
    .endr
    .irp n, 0, 1, 2, 3
    fmul.s fs\n, fs\n, exp_back
    .endr
.endm

/* fs0-fs3 = exp(fa0-fa3) for values <= 0 or NaN, 19 instructions each: n + 64 is an exponent of a
 * normal number. */
.macro exp_of_falls
    .irp n, 0, 1, 2, 3
    fmax.s fa\n, fa\n, exp_lowest      /* a NaN becomes -104 */
    .endr
    .irp n, 0, 1, 2, 3
    fmadd.s ft\n, fa\n, exp_log2e, exp_magic /* z: the nearest integer n, plus 64, in its low bits */
    .endr
    .irp n, 0, 1, 2, 3
    fsub.s fs\n, ft\n, exp_magic       /* n */
    .endr
    .irp n, 0, 1, 2, 3
    fmadd.s fa\n, fs\n, exp_ln2_high, fa\n
    .endr
    .irp n, 0, 1, 2, 3
    fmadd.s fa\n, fs\n, exp_ln2_low, fa\n /* r = x - n ln 2 */
    .endr
    exp_polynomial fmadd, fmadd
.endm

/* fs0-fs3 = 1 + exp(-gate) of fa0-fa3, 21 instructions each. Gates are limited to 32, where the
 * result is 1 already, so n - 64 is a normal exponent. Gates are not negated:
 * a gate becomes -r, and its multiplier subtracts. */
.macro exp_of_gates
    .irp n, 0, 1, 2, 3
    fmin.s fa\n, fa\n, exp_highest     /* a NaN also becomes 32 */
    .endr
    .irp n, 0, 1, 2, 3
    fmax.s fa\n, fa\n, exp_lowest
    .endr
    .irp n, 0, 1, 2, 3
    fnmsub.s ft\n, fa\n, exp_log2e, exp_magic
    .endr
    .irp n, 0, 1, 2, 3
    fsub.s fs\n, ft\n, exp_magic
    .endr
    .irp n, 0, 1, 2, 3
    fnmsub.s fa\n, fs\n, exp_ln2_high, fa\n
    .endr
    .irp n, 0, 1, 2, 3
    fnmsub.s fa\n, fs\n, exp_ln2_low, fa\n
    .endr
    exp_polynomial fnmsub, fmsub
    .irp n, 0, 1, 2, 3
    fadd.s fs\n, fs\n, exp_one
    .endr
.endm

#endif
