// Macros that the x86-64 kernels share. Intel syntax, destination first. AVX2, FMA and F16C are
// required; the System V ABI's red zone is used where stated.
//
// The contract's 16 lanes are in two ymm registers (0-7 and 8-15) or in one zmm. Macros take vector
// registers by number, because a macro needs both the xmm and the ymm of a register.
//
// The first comments of the kernels give cycles and times. They were measured on Zen 4 at
// 3.66 GHz, by the native run of make bench-kernels, with data in the caches.
#ifndef INGOT_KERNELS_X86_64_ASM_H
#define INGOT_KERNELS_X86_64_ASM_H

    .intel_syntax noprefix

// func and endfunc enclose a global function in its own section, with CFI. endfunc
// clears the upper halves of registers, so that later SSE code does not wait for them.
.macro func name
    .section .text.\name, "ax", @progbits
    .p2align 5
    .globl  \name
    .type   \name, @function
\name:
    .cfi_startproc
.endm

.macro endfunc name
    vzeroupper
    ret
    .cfi_endproc
    .size   \name, . - \name
.endm

// Save registers that the ABI preserves, with CFI; pop them in the opposite order.
.macro push_saved regs:vararg
    .irp    reg, \regs
    push    \reg
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \reg, 0
    .endr
.endm

.macro pop_saved regs:vararg
    .irp    reg, \regs
    pop     \reg
    .cfi_adjust_cfa_offset -8
    .cfi_restore \reg
    .endr
.endm

// Allocate and free bytes of the stack, with CFI.
.macro take_stack bytes
    sub     rsp, \bytes
    .cfi_adjust_cfa_offset \bytes
.endm

.macro give_stack bytes
    add     rsp, \bytes
    .cfi_adjust_cfa_offset -\bytes
.endm

// 16 words of ones, then 16 of zeros: a window of 16 words that starts at 16 - n is a mask of n
// lanes. The program has one copy, even if several files include this one.
    .section .rodata.kernels_lane_masks, "aG", @progbits, kernels_lane_masks, comdat
    .p2align 6
    .weak   kernels_lane_masks
    .hidden kernels_lane_masks
    .type   kernels_lane_masks, @object
kernels_lane_masks:
    .fill   16, 4, -1
    .fill   16, 4, 0
    .size   kernels_lane_masks, . - kernels_lane_masks

// ymm low, high = masks of the first `count` (0 to 16) of 16 lanes. Destroys count and rax.
.macro lane_masks low, high, count
    lea     rax, [rip + kernels_lane_masks + 64]
    shl     \count, 2
    sub     rax, \count
    vmovups ymm\low, [rax]
    vmovups ymm\high, [rax + 32]
.endm

// ymm = the mask of the first `count` (0 to 8) of 8 lanes.
.macro lane_mask mask, count
    lea     rax, [rip + kernels_lane_masks + 64]
    shl     \count, 2
    sub     rax, \count
    vmovups ymm\mask, [rax]
.endm

// Every word of ymm reg = a 32-bit constant. Destroys eax.
.macro broadcast_word reg, value
    mov     eax, \value
    vmovd   xmm\reg, eax
    vpbroadcastd ymm\reg, xmm\reg
.endm

// Fold 16 lanes to word 0 of xmm low, adding the upper half to the lower. Destroys both.
.macro fold_lanes low, high
    vaddps  ymm\low, ymm\low, ymm\high
    vextractf128 xmm\high, ymm\low, 1
    vaddps  xmm\low, xmm\low, xmm\high
    vmovhlps xmm\high, xmm\low, xmm\low
    vaddps  xmm\low, xmm\low, xmm\high
    vmovshdup xmm\high, xmm\low
    vaddss  xmm\low, xmm\low, xmm\high
.endm

// Fold the 16 lanes of zmm reg to word 0 of xmm reg. Destroys ymm other.
.macro fold_zmm reg, other
    vextractf64x4 ymm\other, zmm\reg, 1
    fold_lanes \reg, \other
.endm

// Fold 16 lanes, in ymm low and high, to four in xmm low.
.macro fold_to_four low, high
    vaddps  ymm\low, ymm\low, ymm\high
    vextractf128 xmm\high, ymm\low, 1
    vaddps  xmm\low, xmm\low, xmm\high
.endm

// Fold 16 lanes for each of four rows, ymm0-ymm7, to the four sums in xmm0. Destroys
// ymm0-ymm7.
.macro fold_four_rows
    fold_to_four 0, 1
    fold_to_four 2, 3
    fold_to_four 4, 5
    fold_to_four 6, 7
    vunpcklpd xmm1, xmm0, xmm2      // lanes 0, 1 of rows 0 and 1
    vunpckhpd xmm3, xmm0, xmm2      // lanes 2, 3
    vunpcklpd xmm5, xmm4, xmm6
    vunpckhpd xmm7, xmm4, xmm6
    vaddps  xmm1, xmm1, xmm3
    vaddps  xmm5, xmm5, xmm7
    vshufps xmm0, xmm1, xmm5, 0x88  // lane 0 of the four rows
    vshufps xmm2, xmm1, xmm5, 0xdd  // lane 1
    vaddps  xmm0, xmm0, xmm2
.endm

// xmm reg = the first `count` % 8 fp16 at `from`, with zeros above; reads nothing beyond them.
// count is a 32-bit register, from is a 64-bit register. Destroys rax.
.macro load_ragged_halves reg, from, count
    vpxor   xmm\reg, xmm\reg, xmm\reg
    test    \count, 1
    jz      .Ltwo\@
    mov     eax, \count
    and     eax, 6
    movzx   eax, word ptr [\from + 2*rax]
    vmovd   xmm\reg, eax
.Ltwo\@:
    test    \count, 2
    jz      .Lfour\@
    mov     eax, \count
    and     eax, 4
    vpslldq xmm\reg, xmm\reg, 4
    vpinsrd xmm\reg, xmm\reg, dword ptr [\from + 2*rax], 0
.Lfour\@:
    test    \count, 4
    jz      .Lloaded\@
    vpslldq xmm\reg, xmm\reg, 8
    vpinsrq xmm\reg, xmm\reg, qword ptr [\from], 0
.Lloaded\@:
.endm

    .section .note.GNU-stack, "", @progbits

// Prefetch `bytes` bytes at `at`, a part of a later block of the gemv, to the second-level cache.
.macro fetch_lines at, bytes
    .set    line_at, 0
    .rept   (\bytes + 63) / 64
    prefetcht1 [\at + line_at]
    .set    line_at, line_at + 64
    .endr
.endm

#endif
