// A block of Q2_K by AVX2 or, with AVX_VNNI, AVX-VNNI: k_avx2.h has registers and loops.
#ifndef INGOT_KERNELS_X86_64_Q2K_AVX2_H
#define INGOT_KERNELS_X86_64_Q2K_AVX2_H

#include "kernels/x86_64/matrix/k_bits_avx2.h"

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
    prepare_sums_of_16 \n
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
