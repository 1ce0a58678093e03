// Q5_K, Q3_K and Q2_K by AVX2 or, with AVX_VNNI, AVX-VNNI, whose weights are joined from planes of bits: as k_avx2.h has
// Q4_K and Q6_K.
//
// Weights of Q3_K get 4 added, which makes them unsigned and comes off with the sums of x.
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

// Up by `by` bits, or down; what crosses bytes is masked after.
.macro shift_words to, from, by
    .if (\by) > 0
    vpsllw  \to, \from, (\by)
    .elseif (\by) < 0
    vpsrlw  \to, \from, -(\by)
    .elseif 1
    vmovdqa \to, \from
    .endif
.endm

// ---- Q5_K -----------------------------------------------------------------------------------

.macro chunk_q5k n, p, high, c
    vmovdqu ymm12, [group + Q4K_QUANTS + 256 * \p + 32 * \c]
    vmovdqu ymm14, [group + Q5K_HIGH + 32 * \c]
    .if \high
    vpsrlw  ymm12, ymm12, 4
    .endif
    shift_words ymm14, ymm14, (4 - 2 * \p - \high)
    vpand   ymm12, ymm12, low_nibbles
    vpand   ymm14, ymm14, BIT_4
    vpor    ymm12, ymm12, ymm14
    multiply_tokens \n, (16 * \p + 8 * \high + \c), (\c % Q5K_CHUNKS == 0)
.endm

.macro sub_block_q5k n, p, high
    load_scales 13, (Q4K_SCALES + 16 * \p + 8 * \high), SIX_BITS
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    chunk_q5k \n, \p, \high, \c
    .if (\c + 1) % Q5K_CHUNKS == 0
    scale_tokens \n, (\p + \high + \c / Q5K_CHUNKS == 0)
    .endif
    .endr
.endm

.macro block_q5k n, scale
    broadcast_word 15, 0x0f0f0f0f
    prepare_sums_q4k \n
    .irp    p, 0, 1, 2, 3
    sub_block_q5k \n, \p, 0
    sub_block_q5k \n, \p, 1
    .endr
    finish_q4k \n, \scale
.endm

// ---- Q3_K -----------------------------------------------------------------------------------

// Chunk c (0 to 7) of 32 columns number 4 half + s, plus 4.
.macro chunk_q3k n, half, s, c
    vmovdqu ymm12, [group + Q3K_LOW + 256 * \half + 32 * \c]
    vmovdqu ymm14, [group + Q3K_HIGH + 32 * \c]
    .if \s
    vpsrlw  ymm12, ymm12, 2 * \s
    .endif
    shift_words ymm14, ymm14, (2 - 4 * \half - \s)
    vpand   ymm12, ymm12, TWO_BITS
    vpandn  ymm14, ymm14, BIT_2
    vpor    ymm12, ymm12, ymm14
    multiply_tokens \n, (32 * \half + 8 * \s + \c), (\c % 4 == 0)
.endm

.macro sub_block_q3k n, half, s, odd
    .irp    c, 0, 1, 2, 3
    chunk_q3k \n, \half, \s, %(4 * \odd + \c)
    .endr
    load_short_scales 13, (Q3K_SCALES + 64 * \half + 16 * \s + 8 * \odd)
    scale_tokens \n, (\half + \s + \odd == 0), scale_short_token
.endm

.macro block_q3k n, scale
    prepare_sums_q6k \n
    .irp    half, 0, 1
    .irp    s, 0, 1, 2, 3
    sub_block_q3k \n, \half, \s, 0
    sub_block_q3k \n, \half, \s, 1
    .endr
    .endr
    finish_biases \n, \scale, 2
.endm

// ---- Q2_K -----------------------------------------------------------------------------------

.macro chunk_q2k n, half, s, c
    vmovdqu ymm12, [group + Q2K_QUANTS + 256 * \half + 32 * \c]
    .if \s
    vpsrlw  ymm12, ymm12, 2 * \s
    .endif
    vpand   ymm12, ymm12, TWO_BITS
    multiply_tokens \n, (32 * \half + 8 * \s + \c), (\c % 4 == 0)
.endm

.macro sub_block_q2k n, half, s, odd
    .irp    c, 0, 1, 2, 3
    chunk_q2k \n, \half, \s, %(4 * \odd + \c)
    .endr
    load_scales 13, (Q2K_SCALES + 64 * \half + 16 * \s + 8 * \odd), low_nibbles
    scale_tokens \n, (\half + \s + \odd == 0), scale_short_token
.endm

.macro mins_q2k n, p
    vbroadcasti128 ymm13, [group + Q2K_SCALES + 16 * \p]
    vpsrlw  ymm13, ymm13, 4
    vpand   ymm13, ymm13, low_nibbles
    vpshufb ymm13, ymm13, SPREAD_PAIR
    .if \n == 1
    multiply_sums \n, \p, <block + Q8K_SUM>, (\p == 0)
    .else
    multiply_sums \n, \p, <sums>, (\p == 0)
    .endif
.endm

.macro block_q2k n, scale
    broadcast_word 15, 0x0f0f0f0f
    prepare_sums_q6k \n
    .irp    half, 0, 1
    .irp    s, 0, 1, 2, 3
    sub_block_q2k \n, \half, \s, 0
    sub_block_q2k \n, \half, \s, 1
    .endr
    .endr
    .irp    p, 0, 1, 2, 3, 4, 5, 6, 7
    mins_q2k \n, \p
    .endr
    finish_mins \n, \scale
.endm

#endif
