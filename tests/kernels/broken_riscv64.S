# Kernels that break one rule of the ABI each and do nothing else; see broken.c.

.macro broken name
    .section .text.\name, "ax", %progbits
    .balign 4
    .globl  \name
    .type   \name, %function
\name:
.endm

broken broken_saved
    addi    s9, s9, 1
    ret

broken broken_saved_float
    fmv.d.x fs4, zero
    ret

broken broken_stack
    addi    sp, sp, -16
    ret

broken broken_control
    fsrmi   3                       # towards plus infinity
    ret

broken broken_platform
    addi    gp, gp, 16
    ret

    .section .note.GNU-stack, "", %progbits
