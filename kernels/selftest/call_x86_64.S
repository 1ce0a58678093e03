# void kernel_call_checked(struct kernel_call *call): System V ABI.
#
# rdi  call; kept in a static variable over the call, as nothing else can be trusted
#
# Fills rbx, rbp and r12-r15 with known values, every other register with garbage, calls, and
# compares. This ABI keeps no vector register, yet their upper halves must be clean at the end;
# MXCSR's control bits and the direction flag must survive. The own registers are kept in
# call->saved, not on the stack, so that a kernel that moves rsp cannot hurt; the kernel gets the
# stack at call->stack.
    .intel_syntax noprefix

.equ CALL_INTEGER, 8
.equ CALL_SCALAR, 56
.equ CALL_RESULT, 64
.equ CALL_FEATURES, 68
.equ CALL_DAMAGE, 72
.equ CALL_STACK, 80
.equ CALL_SAVED, 88
.equ SAVED_MXCSR, CALL_SAVED + 56
.equ SAVED_VECTORS, CALL_SAVED + 64

.equ FEATURE_AVX2, 1 << 3           # CPU_X86_AVX2
.equ FEATURE_AVX512, 1 << 8         # CPU_X86_AVX512

.equ FAULT_SAVED, 1 << 3
.equ FAULT_STACK, 1 << 5
.equ FAULT_CONTROL, 1 << 6
.equ FAULT_DIRTY, 1 << 10
.equ DIRECTION, 0x400               # DF in the flags
.equ MXCSR_CONTROL, 0xffc0          # all but the sticky flags
.equ PATTERN, 0x5a00e1f07b001234

    .section .text.kernel_call_checked, "ax", @progbits
    .p2align 4
    .globl  kernel_call_checked
    .type   kernel_call_checked, @function
kernel_call_checked:
    .cfi_startproc
    mov     [rip + kernel_call_current], rdi
    .set    at, CALL_SAVED
.irp reg, rbx, rbp, r12, r13, r14, r15, rsp
    mov     [rdi + at], \reg
    .set    at, at + 8
.endr
    stmxcsr [rdi + SAVED_MXCSR]

    mov     eax, [rdi + CALL_FEATURES]
    test    eax, FEATURE_AVX512
    jnz     3f
    test    eax, FEATURE_AVX2
    jnz     2f
    pcmpeqd xmm0, xmm0
.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movdqa  xmm\n, xmm0
.endr
    jmp     1f
2:
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vpcmpeqd ymm\n, ymm\n, ymm\n
.endr
    jmp     1f
3:
    vpternlogd zmm0, zmm0, zmm0, 0xff
.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vmovdqa64 zmm\n, zmm0
.endr
.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    vmovdqa64 zmm\n, zmm0
.endr
    movabs  rax, 0x5a5a5a5a5a5a5a5a
.irp n, 0, 1, 2, 3, 4, 5, 6, 7
    kmovq   k\n, rax
.endr
1:
    movss   xmm0, dword ptr [rdi + CALL_SCALAR] # clears only what is left of V: SSE on purpose
    movss   xmm1, dword ptr [rdi + CALL_SCALAR + 4]
    movabs  rax, PATTERN
.irp reg, rbx, rbp, r12, r13, r14, r15, r10
    mov     \reg, rax
.endr
    mov     r11, [rdi]
    mov     rsp, [rdi + CALL_STACK]
    mov     rsi, [rdi + CALL_INTEGER + 8]
    mov     rdx, [rdi + CALL_INTEGER + 16]
    mov     rcx, [rdi + CALL_INTEGER + 24]
    mov     r8, [rdi + CALL_INTEGER + 32]
    mov     r9, [rdi + CALL_INTEGER + 40]
    mov     rdi, [rdi + CALL_INTEGER]
    call    r11

    mov     rcx, [rip + kernel_call_current]
    movss   dword ptr [rcx + CALL_RESULT], xmm0
    movabs  rdx, PATTERN
    xor     esi, esi
.irp reg, rbx, rbp, r12, r13, r14, r15
    xor     \reg, rdx
    or      rsi, \reg
.endr
    xor     eax, eax
    mov     edx, FAULT_SAVED
    test    rsi, rsi
    cmovnz  eax, edx
    xor     edi, edi
    mov     edx, FAULT_STACK
    cmp     rsp, [rcx + CALL_STACK]
    cmovne  edi, edx
    or      eax, edi
    stmxcsr [rcx + SAVED_MXCSR + 4]
    mov     esi, [rcx + SAVED_MXCSR + 4]
    xor     esi, [rcx + SAVED_MXCSR]
    xor     edi, edi
    mov     edx, FAULT_CONTROL
    test    esi, MXCSR_CONTROL
    cmovnz  edi, edx
    or      eax, edi
    mov     rsp, [rcx + CALL_SAVED + 48] # before anything is pushed
    pushfq
    pop     rsi
    xor     edi, edi
    test    esi, DIRECTION
    cmovnz  edi, edx
    or      eax, edi
    call    find_dirty
    or      eax, edi
    mov     [rcx + CALL_DAMAGE], eax

    ldmxcsr [rcx + SAVED_MXCSR]
    cld
    .set    at, CALL_SAVED
.irp reg, rbx, rbp, r12, r13, r14, r15, rsp
    mov     \reg, [rcx + at]
    .set    at, at + 8
.endr
    ret
    .cfi_endproc
    .size   kernel_call_checked, . - kernel_call_checked

# edi = FAULT_DIRTY if the upper half of ymm0-15 (three quarters of zmm0-15) holds other than zero
# or the poison: a kernel touched it and did not end with vzeroupper. rcx call. A word is either if
# it equals its own sign spread out. Leaves the upper halves zero.
find_dirty:
    .cfi_startproc
    xor     edi, edi
    mov     edx, FAULT_DIRTY
    mov     esi, [rcx + CALL_FEATURES]
    test    esi, FEATURE_AVX512
    jnz     2f
    test    esi, FEATURE_AVX2
    jz      1f
    vmovdqu [rcx + SAVED_VECTORS], ymm0
    vmovdqu [rcx + SAVED_VECTORS + 32], ymm1
    vpcmpeqd ymm0, ymm0, ymm0
.irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vpsrad  ymm1, ymm\n, 31
    vpcmpeqd ymm1, ymm1, ymm\n
    vpand   ymm0, ymm0, ymm1
.endr
.irp at, 0, 32
    vmovdqu ymm2, [rcx + SAVED_VECTORS + \at]
    vpsrad  ymm1, ymm2, 31
    vpcmpeqd ymm1, ymm1, ymm2
    vpand   ymm0, ymm0, ymm1
.endr
    vpmovmskb esi, ymm0
    not     esi
    test    esi, 0xffff0000
    cmovnz  edi, edx
    vzeroupper
1:
    ret
2:
    vmovdqu64 [rcx + SAVED_VECTORS], zmm0
    kxnorw  k1, k1, k1
.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vpsrad  zmm0, zmm\n, 31
    vpcmpeqd k1{k1}, zmm0, zmm\n
.endr
    vmovdqu64 zmm1, [rcx + SAVED_VECTORS]
    vpsrad  zmm0, zmm1, 31
    vpcmpeqd k1{k1}, zmm0, zmm1
    kmovw   esi, k1
    not     esi
    test    esi, 0xfff0
    cmovnz  edi, edx
    vzeroupper
    ret
    .cfi_endproc
    .size   find_dirty, . - find_dirty

    .local  kernel_call_current
    .comm   kernel_call_current, 8, 8
    .section .note.GNU-stack, "", @progbits
