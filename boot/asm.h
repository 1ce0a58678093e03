/* The beginning and the end of a function in the assembly of both ISAs. */
#ifndef INGOT_BOOT_ASM_H
#define INGOT_BOOT_ASM_H

.macro func name
    .section .text.\name, "ax"
    .globl \name
    .type \name, %function
    .balign 16
\name:
.endm

.macro endfunc name
    .size \name, . - \name
.endm

#endif
