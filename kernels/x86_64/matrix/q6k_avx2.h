// A block of Q6_K by AVX2 or, with AVX_VNNI, AVX-VNNI: k_avx2.h has registers and loops. AVX2 takes 373
// cycles for 4 tokens, 163 for one.
#ifndef INGOT_KERNELS_X86_64_Q6K_AVX2_H
#define INGOT_KERNELS_X86_64_Q6K_AVX2_H

#include "kernels/x86_64/matrix/k_avx2.h"

// The number of chunks of 4 columns in one sum: all of a sub-block with AVX-VNNI, else as many as
// fit an int16, at most 2 * 2 * 63 * 128 = 32256.
#ifdef AVX_VNNI
#define Q6K_CHUNKS 4
#else
#define Q6K_CHUNKS 2
#endif

// For four tokens: load chunk c (0 to 7) of group 4 half + s of 32 columns, as unsigned 6-bit weights,
// and multiply it.
.macro chunk_q6k half, s, c
    vmovdqu ymm12, [group + Q6K_LOW + 512 * \half + 256 * (\s / 2) + 32 * \c]
    vmovdqu ymm14, [group + Q6K_HIGH + 256 * \half + 32 * \c]
    .if \s % 2
    vpsrlw  ymm12, ymm12, 4
    .endif
    .if \s < 2
    vpsllw  ymm14, ymm14, 4 - 2 * \s
    .elseif \s == 3
    vpsrlw  ymm14, ymm14, 2
    .endif
    vpand   ymm12, ymm12, low_nibbles
    vpand   ymm14, ymm14, BITS_4_5
    vpor    ymm12, ymm12, ymm14
    multiply_tokens 4, (32 * \half + 8 * \s + \c), (\c % Q6K_CHUNKS == 0)
.endm

// Multiply sub-block 2 (4 half + s) + odd.
.macro sub_block_q6k half, s, odd
    load_signed_scales 13, (K36_SCALES + 64 * \half + 16 * \s + 8 * \odd)
    .irp    c, 0, 1, 2, 3
    chunk_q6k \half, \s, %(4 * \odd + \c)
    .if (\c + 1) % Q6K_CHUNKS == 0
    scale_tokens 4, (\half + \s + \odd + \c / Q6K_CHUNKS == 0)
    .endif
    .endr
.endm

// With one token, registers are free, so loaded bytes are unpacked for all four groups of 32 columns
// that share them. ymm1 has two bits of each group, ymm12 nibbles, ymm13 a mask of bits 4 and 5.
.macro part_one_q6k half, s, c
    .if \s % 2
    vpsrlw  ymm2, ymm12, 4
    vpand   ymm2, ymm2, low_nibbles
    .else
    vmovdqu ymm12, [group + Q6K_LOW + 512 * \half + 128 * \s + 32 * \c]
    vpand   ymm2, ymm12, low_nibbles
    .endif
    .if \s < 2
    vpsllw  ymm3, ymm1, 4 - 2 * \s
    vpand   ymm3, ymm3, ymm13
    .elseif \s == 2
    vpand   ymm3, ymm1, ymm13
    .else
    vpsrlw  ymm3, ymm1, 2
    vpand   ymm3, ymm3, ymm13
    .endif
    vpor    ymm2, ymm2, ymm3
    multiply_token %(8 + \s), 2, (4 * (32 * \half + 8 * \s + \c)), (\c % Q6K_CHUNKS == 0)
.endm

// Multiply chunk c, and prefetch two cache lines of a later block. Without
// prefetches, memory is half as fast (see AHEAD in gemv/q6k.S.in).
.macro chunk_one_q6k half, c
    prefetcht0 [group + 8192 + 64 * (16 * \half + 2 * \c)]
    prefetcht0 [group + 8192 + 64 * (16 * \half + 2 * \c + 1)]
    vmovdqu ymm1, [group + Q6K_HIGH + 256 * \half + 32 * \c]
    .irp    s, 0, 1, 2, 3
    part_one_q6k \half, \s, \c
    .endr
.endm

.macro scale_one_q6k half, s, odd, sum, total, begin
    load_signed_scales 2, (K36_SCALES + 64 * \half + 16 * \s + 8 * \odd)
    scale_token \sum, \total, 2, \begin
.endm

.macro scaled_chunk_q6k half, c
    chunk_one_q6k \half, \c
    .if (\c + 1) % Q6K_CHUNKS == 0
    .irp    s, 0, 1, 2, 3
    scale_one_q6k \half, \s, %(\c / 4), %(8 + \s), %(4 + \s), (\half + \c / Q6K_CHUNKS == 0)
    .endr
    .endif
.endm

.macro block_one_q6k
    vmovdqu ymm13, BITS_4_5
    .irp    half, 0, 1
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    scaled_chunk_q6k \half, \c
    .endr
    .endr
    vpaddd  ymm4, ymm4, ymm5
    vpaddd  ymm6, ymm6, ymm7
    vpaddd  ymm4, ymm4, ymm6
.endm

.macro block_q6k n, scale
    broadcast_word 15, 0x0f0f0f0f
    prepare_sums_of_16 \n
    .if \n == 1
    block_one_q6k
    .else
    .irp    half, 0, 1
    .irp    s, 0, 1, 2, 3
    sub_block_q6k \half, \s, 0
    sub_block_q6k \half, \s, 1
    .endr
    .endr
    .endif
    finish_biases \n, \scale, 5
.endm

#endif
