# void kernel_call_checked(struct kernel_call *call): System V ABI.
#
# rdi  call; kept in a static variable over the call, as nothing else can be trusted
#
# Fills rbx, rbp and r12-r15 with known values, every other register with garbage, calls, and
# compares. This ABI keeps no vector register; MXCSR's control bits must survive. The own
# registers are kept in call->saved, not on the stack, so that a kernel that moves rsp cannot
# hurt.
    .intel_syntax noprefix

.equ CALL_INTEGER, 8
.equ CALL_SCALAR, 56
.equ CALL_RESULT, 60
.equ CALL_DAMAGE, 68
.equ CALL_SAVED, 72
.equ SAVED_RETURN, CALL_SAVED + 56
.equ SAVED_MXCSR, CALL_SAVED + 64

.equ FAULT_SAVED, 1 << 3
.equ FAULT_STACK, 1 << 5
.equ FAULT_CONTROL, 1 << 6
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
    mov     rax, [rsp]
    mov     [rdi + SAVED_RETURN], rax
    stmxcsr [rdi + SAVED_MXCSR]

    pcmpeqd xmm0, xmm0
.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movdqa  xmm\n, xmm0
.endr
    movss   xmm1, dword ptr [rdi + CALL_SCALAR]
    movss   xmm0, xmm1
    pcmpeqd xmm1, xmm1
    movabs  rax, PATTERN
.irp reg, rbx, rbp, r12, r13, r14, r15, r10
    mov     \reg, rax
.endr
    mov     r11, [rdi]
    mov     rsi, [rdi + CALL_INTEGER + 8]
    mov     rdx, [rdi + CALL_INTEGER + 16]
    mov     rcx, [rdi + CALL_INTEGER + 24]
    mov     r8, [rdi + CALL_INTEGER + 32]
    mov     r9, [rdi + CALL_INTEGER + 40]
    mov     rdi, [rdi + CALL_INTEGER]
    sub     rsp, 8                  # 16-byte aligned at the call
    call    r11
    lea     rsp, [rsp + 8]

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
    cmp     rsp, [rcx + CALL_SAVED + 48]
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
    mov     [rcx + CALL_DAMAGE], eax

    ldmxcsr [rcx + SAVED_MXCSR]
    cld
    .set    at, CALL_SAVED
.irp reg, rbx, rbp, r12, r13, r14, r15, rsp
    mov     \reg, [rcx + at]
    .set    at, at + 8
.endr
    mov     rax, [rcx + SAVED_RETURN]
    mov     [rsp], rax
    ret
    .cfi_endproc
    .size   kernel_call_checked, . - kernel_call_checked

    .local  kernel_call_current
    .comm   kernel_call_current, 8, 8
    .section .note.GNU-stack, "", @progbits
