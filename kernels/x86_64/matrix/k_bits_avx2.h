// Like k_avx2.h, for weights whose bits are in separate planes.
#ifndef INGOT_KERNELS_X86_64_K_BITS_AVX2_H
#define INGOT_KERNELS_X86_64_K_BITS_AVX2_H

#include "kernels/x86_64/matrix/k_avx2.h"

    .section .rodata.kernels_avx2_k_bits, "aG", @progbits, kernels_avx2_k_bits, comdat
    .p2align 5
    .weak   kernels_avx2_k_bits
    .hidden kernels_avx2_k_bits
    .type   kernels_avx2_k_bits, @object
kernels_avx2_k_bits:
    .fill   32, 1, 0x10
    .fill   32, 1, 4
    .size   kernels_avx2_k_bits, . - kernels_avx2_k_bits

#define BIT_4 [rip + kernels_avx2_k_bits]
#define BIT_2 [rip + kernels_avx2_k_bits + 32]

// Shift up by `by` bits, or down if negative; bits that cross a byte are masked afterwards.
.macro shift_words to, from, by
    .if (\by) > 0
    vpsllw  \to, \from, (\by)
    .elseif (\by) < 0
    vpsrlw  \to, \from, -(\by)
    .elseif 1
    vmovdqa \to, \from
    .endif
.endm

#endif
