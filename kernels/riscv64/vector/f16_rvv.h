/* fp16 to f32 in groups of 8 registers, for kernels that widen once and use the result often.
 *
 * Without Zvfhmin this takes 4 instructions and no scratch register, and is correct for finite
 * values; an infinity or NaN becomes 65536 or more. Such a result is discarded: flag_not_finite
 * raises the overflow flag for the group, and the kernel takes the slow path for these columns. */
#ifndef INGOT_KERNELS_RISCV64_F16_RVV_H
#define INGOT_KERNELS_RISCV64_F16_RVV_H

#include "kernels/riscv64/asm.h"

#define scale_up ft0   /* 2^112 */
#define sign_bits t2   /* F16_SIGN_MAGNITUDE */

#define wide v0        /* m8; its upper half takes the fp16, which vsext and vfwcvt allow */
#define half v4
#define slow_wide v8   /* m8, because the mask is in v0 */
#define slow_bits v16
#define slow_half v20

.macro widen_start temp
    load_float scale_up, F32_2P112, \temp
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

/* wide = the vl halves at \at. vtype is e32, m8 before and after. */
.macro widen_halves at, zvfh
    .if \zvfh
    vsetvli zero, zero, e16, m4, ta, mu
    vle16.v half, (\at)
    vfwcvt.f.f.v wide, half
    vsetvli zero, zero, e32, m8, ta, mu
    .else
    vle16.v half, (\at)
    vsext.vf2 wide, half
    vsll.vi wide, wide, 13
    vand.vx wide, wide, sign_bits
    vfmul.vf wide, wide, scale_up
    .endif
.endm

/* The product overflows from 65536 on, which no finite fp16 reaches; destroys wide. */
.macro flag_not_finite zvfh
    .if \zvfh == 0
    vfmul.vf wide, wide, scale_up
    .endif
.endm

/* Values that are widened once for many queries are kept on the stack, from sp on: at most 64 rows
 * of vl floats. Every page is touched, so that no guard page is skipped. */
#define KEPT_BYTES 8192
#define KEPT_LANES 64
.macro push_kept temp
    lui \temp, KEPT_BYTES / 2 / 4096
    .rept 2
    sub sp, sp, \temp
    .cfi_adjust_cfa_offset KEPT_BYTES / 2
    sd zero, 0(sp)
    .endr
.endm

.macro pop_kept temp
    lui \temp, KEPT_BYTES / 4096
    add sp, sp, \temp
    .cfi_adjust_cfa_offset -KEPT_BYTES
.endm

/* \depth = 64 rows of \row_bytes if they fit, else 32. */
.macro kept_depth depth, row_bytes
    sltiu \depth, \row_bytes, 4*KEPT_LANES/2 + 1
    addi \depth, \depth, 1
    slli \depth, \depth, 5
.endm

/* slow_wide = the vl halves at \at, correct for all values. Clobbers v0, slow_bits, \temp; needs
 * mu. */
.macro widen_any_halves at, temp
    vle16.v slow_half, (\at)
    vsext.vf2 slow_bits, slow_half
    vsll.vi slow_wide, slow_bits, 13
    vsll.vi slow_bits, slow_bits, 17   /* keeps only exponent and fraction, at the top */
    vand.vx slow_wide, slow_wide, sign_bits
    li \temp, F16_LARGEST
    vmsgtu.vx v0, slow_bits, \temp
    lui \temp, 0x7f800
    vfmul.vf slow_wide, slow_wide, scale_up
    vor.vx slow_wide, slow_wide, \temp, v0.t
.endm

#endif
