// Shared by the kernels that unpack weights.
#ifndef INGOT_KERNELS_X86_64_UNPACK_AVX2_H
#define INGOT_KERNELS_X86_64_UNPACK_AVX2_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

#define out rdi
#define weights rsi
#define blocks_left rdx

// ymm`reg` = a number in every word of 32 bits; clobbers eax.
.macro broadcast_number reg, number
    mov     eax, \number
    vmovd   xmm\reg, eax
    vpbroadcastd ymm\reg, xmm\reg
.endm

// Copy a multiple of 128 bytes; clobbers ymm3-ymm6.
.macro copy_bytes to, from, bytes
    .set    .Lcopied, 0
    .rept   (\bytes) / 128
    vmovdqu ymm3, [weights + \from + .Lcopied]
    vmovdqu ymm4, [weights + \from + .Lcopied + 32]
    vmovdqu ymm5, [weights + \from + .Lcopied + 64]
    vmovdqu ymm6, [weights + \from + .Lcopied + 96]
    vmovdqu [out + \to + .Lcopied], ymm3
    vmovdqu [out + \to + .Lcopied + 32], ymm4
    vmovdqu [out + \to + .Lcopied + 64], ymm5
    vmovdqu [out + \to + .Lcopied + 96], ymm6
    .set    .Lcopied, .Lcopied + 128
    .endr
.endm

#endif
