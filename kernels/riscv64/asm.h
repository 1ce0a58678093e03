/* Macros of the riscv64 kernels: func and endfunc frame a function. LP64D: arguments in a0-a7
 * and fa0-fa7, t0-t6 and ft0-ft11 free, every vector register, vl and vtype free (none is kept
 * over a call); gp and tp stay untouched. frm is nearest even from the start of the core on. */
#ifndef INGOT_KERNELS_RISCV64_ASM_H
#define INGOT_KERNELS_RISCV64_ASM_H

/* func name [extension]: own section (the linker drops what nobody calls), CFI, and the
 * extension (v) for the assembler inside this function only. */
.macro func name, extension
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
    .cfi_startproc
\name:
.endm

/* Keep these registers in \bytes of stack (a multiple of 16), and give them back. */
.macro push bytes, registers:vararg
    addi sp, sp, -(\bytes)
    .cfi_adjust_cfa_offset \bytes
    .set push_at, 0
    .irp register, \registers
    sd \register, push_at(sp)
    .cfi_rel_offset \register, push_at
    .set push_at, push_at + 8
    .endr
.endm

.macro pop bytes, registers:vararg
    .set push_at, 0
    .irp register, \registers
    ld \register, push_at(sp)
    .cfi_restore \register
    .set push_at, push_at + 8
    .endr
    addi sp, sp, \bytes
    .cfi_adjust_cfa_offset -(\bytes)
.endm

/* The float with these bits. */
.macro load_float reg, bits, temp
    li \temp, \bits
    fmv.w.x \reg, \temp
.endm

#define F32_ONE 0x3f800000
#define F32_2P112 0x77800000     /* 2^112: rebiases an fp16 exponent that was shifted into place */
#define F32_MAGIC 0x4b400000     /* 1.5 * 2^23: adding it rounds to the nearest even integer */
#define F16_SIGN_MAGNITUDE 0x8fffe000 /* what stays of a sign-extended fp16 shifted left by 13 */

#endif
