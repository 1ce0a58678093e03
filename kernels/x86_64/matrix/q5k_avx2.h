// A block of Q5_K by AVX2: k_avx2.h has registers and loops.
#ifndef INGOT_KERNELS_X86_64_Q5K_AVX2_H
#define INGOT_KERNELS_X86_64_Q5K_AVX2_H

#include "kernels/x86_64/matrix/k_bits_avx2.h"

// The number of chunks of 4 columns in one sum: all of a sub-block with AVX-VNNI, else as many as
// fit an int16, at most 4 * 2 * 31 * 128 = 31744.
#ifdef AVX_VNNI
#define Q5K_CHUNKS 8
#else
#define Q5K_CHUNKS 4
#endif

.macro chunk_q5k n, p, high, c
    vmovdqu ymm12, [group + K45_QUANTS + 256 * \p + 32 * \c]
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
    load_scales 13, (K45_SCALES + 16 * \p + 8 * \high), SIX_BITS
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    chunk_q5k \n, \p, \high, \c
    .if (\c + 1) % Q5K_CHUNKS == 0
    scale_tokens \n, (\p + \high + \c / Q5K_CHUNKS == 0)
    .endif
    .endr
.endm

.macro block_q5k n, scale
    broadcast_word 15, 0x0f0f0f0f
    prepare_sums_k45 \n
    .irp    p, 0, 1, 2, 3
    sub_block_q5k \n, \p, 0
    sub_block_q5k \n, \p, 1
    .endr
    finish_k45 \n, \scale
.endm

#endif
