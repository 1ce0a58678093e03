# Kernels that break one rule of the ABI each and do nothing else; see broken.c. This ABI has
# no callee-saved vector register and no platform register.
    .intel_syntax noprefix

.macro broken name
    .section .text.\name, "ax", @progbits
    .globl  \name
    .type   \name, @function
\name:
.endm

broken broken_saved
    inc     r13
    ret

broken broken_stack
    pop     rax
    sub     rsp, 8
    jmp     rax

broken broken_control
    mov     dword ptr [rsp - 4], 0x5f80 # towards plus infinity
    ldmxcsr [rsp - 4]
    ret

    .section .note.GNU-stack, "", @progbits
