// What the AVX-512 kernels over vectors share. A zmm holds the contract's 16 lanes.
#ifndef INGOT_KERNELS_X86_64_AVX512_H
#define INGOT_KERNELS_X86_64_AVX512_H

#include "kernels/x86_64/asm.h"

    .altmacro                       // < > around an argument with commas or braces

// k1 = the first count (below 16) of 16 lanes. Destroys eax.
.macro tail_mask count_32
    mov     eax, -1
    bzhi    eax, eax, \count_32
    kmovw   k1, eax
.endm

// body k, z for each 16 of `left` elements: both empty, or {k1} and {z} for the last 1 to 15. The
// body moves the pointers. Destroys left, eax, k1.
.macro for_sixteens left, left_32, body
    sub     \left, 16
    jb      822f
821:
    \body   <>, <>
    sub     \left, 16
    jae     821b
822:
    add     \left, 16
    jz      823f
    tail_mask \left_32
    \body   <{k1}>, <{z}>
823:
.endm

// Fold the lanes of zmm reg to word 0 of xmm reg, upper half onto lower. Destroys ymm other.
.macro fold_zmm reg, other
    vextractf64x4 ymm\other, zmm\reg, 1
    fold_lanes \reg, \other
.endm

#endif
