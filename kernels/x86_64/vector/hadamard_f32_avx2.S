// void hadamard_f32_avx2(float *x, size_t n, size_t block)
//
// rdi x; rsi end of x; rdx bytes of a block; rax stride in bytes; rcx current x; r8 end of a run;
// ymm0-ymm2 floats, ymm5-ymm7 signs.
// Clobbers rax, rcx, rsi, r8, ymm0-ymm2, ymm5-ymm7.
//
// Strides 1, 2 and 4 are within a register. At these strides, a difference is a sum in which the
// pair's second number is negated.
#include "kernels/x86_64/asm.h"

#define vector rdi
#define end rsi
#define block_bytes rdx
#define stride rax
#define at rcx
#define run_end r8

    .section .rodata.kernels_hadamard, "aG", @progbits, kernels_hadamard, comdat
    .p2align 5
    .weak   kernels_hadamard
    .hidden kernels_hadamard
    .type   kernels_hadamard, @object
kernels_hadamard:                   // where strides 1, 2, 4 subtract
    .long   0, 0x80000000, 0, 0x80000000, 0, 0x80000000, 0, 0x80000000
    .long   0, 0, 0x80000000, 0x80000000, 0, 0, 0x80000000, 0x80000000
    .long   0, 0, 0, 0, 0x80000000, 0x80000000, 0x80000000, 0x80000000
    .size   kernels_hadamard, . - kernels_hadamard

func hadamard_f32_avx2
    lea     end, [vector + 4*end]
    shl     block_bytes, 2
    vmovaps ymm5, [rip + kernels_hadamard]
    vmovaps ymm6, [rip + kernels_hadamard + 32]
    vmovaps ymm7, [rip + kernels_hadamard + 64]
    mov     at, vector
    cmp     at, end
    je      9f
1:
    vmovups ymm0, [at]
    vmovsldup ymm1, ymm0
    vmovshdup ymm2, ymm0
    vxorps  ymm2, ymm2, ymm5
    vaddps  ymm0, ymm1, ymm2
    vunpcklpd ymm1, ymm0, ymm0
    vunpckhpd ymm2, ymm0, ymm0
    vxorps  ymm2, ymm2, ymm6
    vaddps  ymm0, ymm1, ymm2
    vperm2f128 ymm1, ymm0, ymm0, 0x00
    vperm2f128 ymm2, ymm0, ymm0, 0x11
    vxorps  ymm2, ymm2, ymm7
    vaddps  ymm0, ymm1, ymm2
    vmovups [at], ymm0
    add     at, 32
    cmp     at, end
    jne     1b
    mov     stride, 32
2:
    mov     at, vector
3:
    lea     run_end, [at + stride]
4:
    vmovups ymm0, [at]
    vmovups ymm1, [at + stride]
    vaddps  ymm2, ymm0, ymm1
    vsubps  ymm0, ymm0, ymm1
    vmovups [at], ymm2
    vmovups [at + stride], ymm0
    add     at, 32
    cmp     at, run_end
    jne     4b
    add     at, stride
    cmp     at, end
    jne     3b
    add     stride, stride
    cmp     stride, block_bytes
    jne     2b
9:
endfunc hadamard_f32_avx2
