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

broken broken_frame
    mov     qword ptr [rsp + 8], 0  # the caller's
    ret

broken broken_depth
    mov     qword ptr [rsp - 13000], 0
    ret

broken broken_direction
    std
    ret

# Takes a register for zero that was not cleared.
broken broken_zero
    test    rdx, rdx
    jz      2f
1:
    movss   xmm0, [rdi]
    addss   xmm0, [rsi]
    addss   xmm0, xmm9
    movss   [rdi], xmm0
    add     rdi, 4
    add     rsi, 4
    dec     rdx
    jnz     1b
2:
    ret

broken broken_dirty
    mov     eax, 7
    vmovd   xmm3, eax
    vpbroadcastd ymm3, xmm3
    ret

broken broken_dirty_zmm
    mov     eax, 7
    vpbroadcastd zmm5, eax
    ret

broken broken_zero_zmm
    test    rdx, rdx
    jz      2f
1:
    movss   xmm0, [rdi]
    addss   xmm0, [rsi]
    vaddss  xmm0, xmm0, xmm20
    movss   [rdi], xmm0
    add     rdi, 4
    add     rsi, 4
    dec     rdx
    jnz     1b
2:
    vzeroupper
    ret

# A store under a mask that was not set.
broken broken_mask
    test    rdx, rdx
    jz      2f
1:
    movss   xmm0, [rdi]
    addss   xmm0, [rsi]
    vmovss  [rdi]{k3}, xmm0
    add     rdi, 4
    add     rsi, 4
    dec     rdx
    jnz     1b
2:
    vzeroupper
    ret

    .section .note.GNU-stack, "", @progbits
