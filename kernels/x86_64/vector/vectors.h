// Loops over vectors, written once for AVX2 (v = ymm: 8 floats per step) and AVX-512 (v = zmm: 16).
//
// The body of a step takes v and `tail`. `tail` is empty except in the last, shorter step, where it
// is any text. In this step loads fill up with zeros, and stores do not touch memory beyond the
// end. The mask is ymm15 (AVX2; ymm14 and ymm15 if 16 lanes are two registers) or k1 (AVX-512);
// with AVX2 this step also uses ymm13. No loop reads or writes beyond n.
#ifndef INGOT_KERNELS_X86_64_VECTORS_H
#define INGOT_KERNELS_X86_64_VECTORS_H

#include "kernels/x86_64/asm.h"

    .altmacro                       // callers put < > around arguments with commas or braces

// v reg = a vector at `from`.
.macro load v, reg, from, tail
    .ifb \tail
    vmovups \v\reg, [\from]
    .elseif \v\()_lanes == 16
    vmovups \v\reg{k1}{z}, [\from]
    .else
    vmaskmovps \v\reg, ymm15, [\from]
    .endif
.endm

.macro store v, reg, to, tail
    .ifb \tail
    vmovups [\to], \v\reg
    .elseif \v\()_lanes == 16
    vmovups [\to]{k1}, \v\reg
    .else
    vmaskmovps [\to], ymm15, \v\reg
    .endif
.endm

// v `to` = op of v `by` and the vector at `from`. With AVX2, the tail destroys ymm13.
.macro apply op, v, to, by, from, tail
    .ifb \tail
    \op     \v\to, \v\by, [\from]
    .elseif \v\()_lanes == 16
    \op     \v\to{k1}{z}, \v\by, [\from]
    .else
    vmaskmovps \v\()13, ymm15, [\from]
    \op     \v\to, \v\by, \v\()13
    .endif
.endm

    .set    ymm_lanes, 8
    .set    zmm_lanes, 16

// Advance pointers to floats by a vector.
.macro advance v, pointers:vararg
    .irp    pointer, \pointers
    add     \pointer, 4 * \v\()_lanes
    .endr
.endm

// k1 = the first count (below 16) of 16 lanes. Destroys eax.
.macro tail_mask count_32
    mov     eax, -1
    bzhi    eax, eax, \count_32
    kmovw   k1, eax
.endm

// Run `body v, tail` for `left` floats; body advances the pointers. Destroys left, rax and mask.
.macro for_vectors v, left, left_32, body
    sub     \left, \v\()_lanes
    jb      .Ltail\@
    .p2align 5
.Lvector\@:
    \body   \v
    sub     \left, \v\()_lanes
    jae     .Lvector\@
.Ltail\@:
    add     \left, \v\()_lanes
    jz      .Ldone\@
    .if \v\()_lanes == 16
    tail_mask \left_32
    .else
    lane_mask 15, \left
    .endif
    \body   \v, tail
.Ldone\@:
.endm

// For AVX2, if the contract requires 16 lanes: ymm low, high = 16 floats at `from`.
.macro load_lanes low, high, from, tail
    .ifb \tail
    vmovups ymm\low, [\from]
    vmovups ymm\high, [\from + 32]
    .else
    vmaskmovps ymm\low, ymm14, [\from]
    vmaskmovps ymm\high, ymm15, [\from + 32]
    .endif
.endm

.macro apply_lanes op, low, high, by_low, by_high, from, tail
    .ifb \tail
    \op     ymm\low, ymm\by_low, [\from]
    \op     ymm\high, ymm\by_high, [\from + 32]
    .else
    vmaskmovps ymm13, ymm14, [\from]
    \op     ymm\low, ymm\by_low, ymm13
    vmaskmovps ymm13, ymm15, [\from + 32]
    \op     ymm\high, ymm\by_high, ymm13
    .endif
.endm

.macro store_lanes low, high, to, tail
    .ifb \tail
    vmovups [\to], ymm\low
    vmovups [\to + 32], ymm\high
    .else
    vmaskmovps [\to], ymm14, ymm\low
    vmaskmovps [\to + 32], ymm15, ymm\high
    .endif
.endm

// Run `body tail` for every 16 of `left` floats; body
// advances the pointers. Destroys left, rax, the masks.
.macro for_lanes left, body
    sub     \left, 16
    jb      .Ltail\@
    .p2align 5
.Llanes\@:
    \body
    sub     \left, 16
    jae     .Llanes\@
.Ltail\@:
    add     \left, 16
    jz      .Ldone\@
    lane_masks 14, 15, \left
    \body   tail
.Ldone\@:
.endm

// xmm sum = 1 / sqrt(sum / count + eps), all in word 0. Destroys eax and xmm other.
.macro inverse_root sum, count, eps, other
    vdivss  xmm\sum, xmm\sum, xmm\count
    vaddss  xmm\sum, xmm\sum, xmm\eps
    mov     eax, 0x3f800000         // 1
    vsqrtss xmm\sum, xmm\sum, xmm\sum
    vmovd   xmm\other, eax
    vdivss  xmm\sum, xmm\other, xmm\sum
.endm

#endif
