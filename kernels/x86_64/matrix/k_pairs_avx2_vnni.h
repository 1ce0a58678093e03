// Q6_K by four tokens and Q5_K by AVX-VNNI, two sub-blocks at a time: those that lie in the low and in the
// high nibbles of the same bytes.
//
// Registers and loops: k_avx2.h; but y of four tokens waits on the stack, and ymm0-ymm3 are the sums of
// the second sub-block. By one token that is ymm9.
//
// vpdpbusd adds to what it added before, which takes 5 cycles, and a scale has vpmulld's 10 on top. With
// four chains at a time the core's queue is full of additions that wait; with eight they are ready when
// they come.
#ifndef INGOT_KERNELS_X86_64_K_PAIRS_AVX2_VNNI_H
#define INGOT_KERNELS_X86_64_K_PAIRS_AVX2_VNNI_H

#define AVX_VNNI
#include "kernels/x86_64/matrix/k_bits_avx2.h"

// ymm12 by chunk `first`, ymm13 by chunk `second` of the block by each token.
.macro multiply_pair n, first, second, begin
    multiply_tokens \n, \first, \begin
    .if \n == 1
    multiply_token 9, 13, (4 * (\second)), \begin
    .else
    .irp    t, 0, 1, 2, 3
    multiply_token \t, 13, (16 * (\second) + 4 * \t), \begin
    .endr
    .endif
.endm

// The sums times ymm12 and ymm13 onto the block's.
.macro scale_pair n, begin
    .if \n == 1
    scale_token 8, 4, 12, \begin
    scale_token 9, 4, 13, 0
    .else
    .irp    t, 0, 1, 2, 3
    scale_token %(8 + \t), %(4 + \t), 12, \begin
    .endr
    .irp    t, 0, 1, 2, 3
    scale_token \t, %(4 + \t), 13, 0
    .endr
    .endif
.endm

.macro put_y n
    .if \n == 4
    .irp    t, 0, 1, 2, 3
    vmovdqa [sums + Y_SAVED + 32 * \t], ymm\t
    .endr
    .endif
.endm

.macro take_y n
    .if \n == 4
    .irp    t, 0, 1, 2, 3
    vmovdqa ymm\t, [sums + Y_SAVED + 32 * \t]
    .endr
    .endif
.endm

// ---- Q5_K -----------------------------------------------------------------------------------

// ymm weight |= bit `plane` of each byte at `at`, as bit 4.
.macro join_bit weight, at, plane
    vmovdqu ymm14, [group + \at]
    shift_words ymm14, ymm14, (4 - (\plane))
    vpand   ymm14, ymm14, BIT_4
    vpor    ymm\weight, ymm\weight, ymm14
.endm

// Chunk c of sub-blocks 2p and 2p + 1.
.macro chunks_q5k n, p, c
    vmovdqu ymm12, [group + Q4K_QUANTS + 256 * \p + 32 * \c]
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, low_nibbles
    vpand   ymm13, ymm13, low_nibbles
    join_bit 12, (Q5K_HIGH + 32 * \c), (2 * \p)
    join_bit 13, (Q5K_HIGH + 32 * \c), (2 * \p + 1)
    multiply_pair \n, (16 * \p + \c), (16 * \p + 8 + \c), (\c == 0)
.endm

.macro sub_blocks_q5k n, p
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    chunks_q5k \n, \p, \c
    .endr
    load_scales 12, (Q4K_SCALES + 16 * \p), SIX_BITS
    load_scales 13, (Q4K_SCALES + 16 * \p + 8), SIX_BITS
    scale_pair \n, (\p == 0)
.endm

.macro block_pairs_q5k n, scale
    broadcast_word 15, 0x0f0f0f0f
    prepare_sums_q4k \n
    put_y   \n
    .irp    p, 0, 1, 2, 3
    sub_blocks_q5k \n, \p
    .endr
    take_y  \n
    finish_q4k \n, \scale
.endm

// ---- Q6_K -----------------------------------------------------------------------------------

// ymm weight |= two bits, number s of four, of each byte at `at`, as bits 4 and 5.
.macro join_bits weight, at, s
    vmovdqu ymm14, [group + \at]
    shift_words ymm14, ymm14, (4 - 2 * (\s))
    vpand   ymm14, ymm14, BITS_4_5
    vpor    ymm\weight, ymm\weight, ymm14
.endm

// Chunk c (0 to 7) of 32 columns number 4 half + s and of those after them; s is even.
.macro chunks_q6k half, s, c
    vmovdqu ymm12, [group + Q6K_LOW + 512 * \half + 128 * \s + 32 * \c]
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, low_nibbles
    vpand   ymm13, ymm13, low_nibbles
    join_bits 12, (Q6K_HIGH + 256 * \half + 32 * \c), \s
    join_bits 13, (Q6K_HIGH + 256 * \half + 32 * \c), (\s + 1)
    multiply_pair 4, (32 * \half + 8 * \s + \c), (32 * \half + 8 * \s + 8 + \c), (\c % 4 == 0)
.endm

.macro sub_blocks_q6k half, s, odd
    .irp    c, 0, 1, 2, 3
    chunks_q6k \half, \s, %(4 * \odd + \c)
    .endr
    load_signed_scales 12, (Q6K_SCALES + 64 * \half + 16 * \s + 8 * \odd)
    load_signed_scales 13, (Q6K_SCALES + 64 * \half + 16 * \s + 16 + 8 * \odd)
    scale_pair 4, (\half + \s + \odd == 0)
.endm

.macro block_pairs_q6k n, scale
    broadcast_word 15, 0x0f0f0f0f
    prepare_sums_q6k \n
    put_y   \n
    .irp    half, 0, 1
    .irp    s, 0, 2
    sub_blocks_q6k \half, \s, 0
    sub_blocks_q6k \half, \s, 1
    .endr
    .endr
    take_y  \n
    finish_biases \n, \scale, 5
.endm

#endif
