/* Macros of the riscv64 kernels: func and endfunc frame a function. The calling convention is
 * LP64D: arguments are in a0-a7 and fa0-fa7. t0-t6, ft0-ft11, all vector registers, vl and vtype
 * are free, because no call preserves them; gp and tp are not used. frm is round to nearest, ties
 * to even, as set when the core started. */
#ifndef INGOT_KERNELS_RISCV64_ASM_H
#define INGOT_KERNELS_RISCV64_ASM_H

#include "kernels/blocks.h"

/* func name [extension [, another]] starts a section with CFI for the function, so that the linker
 * can drop a function without a caller. For the assembler, it enables the extension (v) inside this
 * function only. */
.macro func name, extension, also
    .macro endfunc
    .cfi_endproc
    .size \name, . - \name
    .option pop
    .purgem endfunc
    .endm
    .section .text.\name, "ax", @progbits
    .balign 16
    .globl \name
    .type \name, @function
    .option push
    .ifnb \extension
    .option arch, +\extension
    .endif
    .ifnb \also
    .option arch, +\also
    .endif
    .cfi_startproc
\name:
.endm

/* Allocate \bytes of stack (a multiple of 16) and save these registers there, from \offset on; the
 * second macro restores them. */
.macro push_at offset, bytes, registers:vararg
    addi sp, sp, -(\bytes)
    .cfi_adjust_cfa_offset \bytes
    .set saved_at, \offset
    .irp register, \registers
    sd \register, saved_at(sp)
    .cfi_rel_offset \register, saved_at
    .set saved_at, saved_at + 8
    .endr
.endm

.macro pop_at offset, bytes, registers:vararg
    .set saved_at, \offset
    .irp register, \registers
    ld \register, saved_at(sp)
    .cfi_restore \register
    .set saved_at, saved_at + 8
    .endr
    addi sp, sp, \bytes
    .cfi_adjust_cfa_offset -(\bytes)
.endm

.macro push bytes, registers:vararg
    push_at 0, \bytes, \registers
.endm

.macro pop bytes, registers:vararg
    pop_at 0, \bytes, \registers
.endm

#define ALL_SAVED s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
#define ALL_SAVED_BYTES 96

/* \reg = the float with these bits. */
.macro load_float reg, bits, temp
    li \temp, \bits
    fmv.w.x \reg, \temp
.endm

#define F32_ONE 0x3f800000
#define F32_127 0x42fe0000
#define F32_INFINITY 0x7f800000
#define F32_MINUS_INFINITY 0xff800000
#define F32_2M100 0x0d800000     /* 2^-100: a block whose largest value is smaller is quantized to zeros */
#define F32_2M112 0x07800000     /* 2^-112: an integer times this is its fp16, shifted left by 13 */
#define F32_2P112 0x77800000     /* 2^112: rebiases an fp16 exponent that was shifted into place */
#define F32_MINUS_2P112 0xf7800000 /* as F32_2P112, and negates */
#define F32_MAGIC 0x4b400000     /* 1.5 * 2^23: adding it rounds to an integer, ties to even */
#define F16_SIGN_MAGNITUDE 0x8fffe000 /* the kept bits of a sign-extended fp16 that was shifted left by 13 */
#define F16_LARGEST 0xf7ffffff   /* the largest finite fp16, shifted left by 17, with all lower bits set */
#define FLAG_OVERFLOW 4          /* of fflags */

#endif
