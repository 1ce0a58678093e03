/* 16 lanes of f32 in scalar registers: fa0-fa7 are lanes 0-7, ft0-ft7 lanes 8-15. */
#ifndef INGOT_KERNELS_RISCV64_LANES_RV64GC_H
#define INGOT_KERNELS_RISCV64_LANES_RV64GC_H

#include "kernels/riscv64/asm.h"

/* fs0-fs5 to the stack, under them 64 bytes for lanes in memory. */
.macro save_floats
    addi sp, sp, -112
    .cfi_adjust_cfa_offset 112
    .irp n, 0, 1, 2, 3, 4, 5
    fsd fs\n, 64 + 8*\n(sp)
    .cfi_rel_offset fs\n, 64 + 8*\n
    .endr
.endm

.macro restore_floats
    .irp n, 0, 1, 2, 3, 4, 5
    fld fs\n, 64 + 8*\n(sp)
    .cfi_restore fs\n
    .endr
    addi sp, sp, 112
    .cfi_adjust_cfa_offset -112
.endm

.macro clear_lanes
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fmv.w.x fa\n, zero
    fmv.w.x ft\n, zero
    .endr
.endm

/* Lanes to the 64 bytes at sp and back. */
.macro lanes_to_memory
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fsw fa\n, 4*\n(sp)
    fsw ft\n, 32 + 4*\n(sp)
    .endr
.endm

.macro lanes_from_memory
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    flw fa\n, 4*\n(sp)
    flw ft\n, 32 + 4*\n(sp)
    .endr
.endm

/* Upper half onto lower, 16 to 1; the sum is left in fa0. */
.macro fold_lanes
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fadd.s fa\n, fa\n, ft\n
    .endr
    fadd.s fa0, fa0, fa4
    fadd.s fa1, fa1, fa5
    fadd.s fa2, fa2, fa6
    fadd.s fa3, fa3, fa7
    fadd.s fa0, fa0, fa2
    fadd.s fa1, fa1, fa3
    fadd.s fa0, fa0, fa1
.endm

#define sign_bits t5      /* F16_SIGN_MAGNITUDE */
#define f16_infinity t6   /* 0x7c00 << 49: without its sign, an fp16 from here on is not finite */
#define scale_up fs4      /* 2^112 */

.macro widen_constants temp
    load_float scale_up, F32_2P112, \temp
    li sign_bits, F16_SIGN_MAGNITUDE
    li f16_infinity, 0x7c00 << 49
.endm

/* \bits: a sign-extended fp16, becomes the bits of its value times 2^-112. What is not finite
 * goes by way of not_finite \id, which the function has somewhere. Clobbers \temp. */
.macro shift_f16 id, bits, temp
    slli \temp, \bits, 49
    slli \bits, \bits, 13
    and \bits, \bits, sign_bits
    bgeu \temp, f16_infinity, .Lnot_finite_\id
.Lfinite_\id:
.endm

/* An infinity times 2^112 stays one, and the fma behind it makes any NaN the same NaN. */
.macro not_finite id, bits, temp
.Lnot_finite_\id:
    li \temp, 0x7f800000
    or \bits, \bits, \temp
    j .Lfinite_\id
.endm

#endif
