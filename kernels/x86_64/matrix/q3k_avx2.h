// A block of Q3_K by AVX2 or, with AVX_VNNI, AVX-VNNI: k_avx2.h has registers
// and loops. Adding 4 makes weights unsigned; the sums of x correct this.
#ifndef INGOT_KERNELS_X86_64_Q3K_AVX2_H
#define INGOT_KERNELS_X86_64_Q3K_AVX2_H

#include "kernels/x86_64/matrix/k_bits_avx2.h"

// Load chunk c (0 to 7) of group 4 half + s of 32 columns, and add 4 to
// its weights, so that they are unsigned.
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
    load_short_scales 13, (K36_SCALES + 64 * \half + 16 * \s + 8 * \odd)
    scale_tokens \n, (\half + \s + \odd == 0), scale_short_token
.endm

.macro block_q3k n, scale
    prepare_sums_of_16 \n
    .irp    half, 0, 1
    .irp    s, 0, 1, 2, 3
    sub_block_q3k \n, \half, \s, 0
    sub_block_q3k \n, \half, \s, 1
    .endr
    .endr
    finish_biases \n, \scale, 2
.endm

#endif
