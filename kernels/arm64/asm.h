// Macros that the arm64 kernels share: functions, and pieces that several kernels are made of.
#ifndef INGOT_KERNELS_ARM64_ASM_H
#define INGOT_KERNELS_ARM64_ASM_H

// func name ... endfunc name: a global function in its own section, with CFI.
.macro func name
    .section .text.\name, "ax", %progbits
    .balign 16
    .globl  \name
    .type   \name, %function
\name:
    .cfi_startproc
.endm

.macro endfunc name
    .cfi_endproc
    .size   \name, . - \name
.endm

#if defined(__linux__) && defined(__ELF__)
    .pushsection .note.GNU-stack, "", %progbits
    .popsection
#endif

#endif
