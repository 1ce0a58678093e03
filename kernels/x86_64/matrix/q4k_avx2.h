// A block of Q4_K by AVX2 or, with AVX_VNNI, AVX-VNNI: k_avx2.h has registers and loops. AVX2 takes 262
// cycles for 4 tokens, 104 for one.
#ifndef INGOT_KERNELS_X86_64_Q4K_AVX2_H
#define INGOT_KERNELS_X86_64_Q4K_AVX2_H

#include "kernels/x86_64/matrix/k_avx2.h"

// The number of chunks of 4 columns in one sum: as many as fit an int16, at most 8 * 2 * 15 * 128 =
// 30720. With AVX-VNNI these are half a sub-block, at most 4 * 4 * 15 * 128, for scale_short_token.
#ifdef AVX_VNNI
#define Q4K_CHUNKS 4
#else
#define Q4K_CHUNKS 8
#endif

.macro chunk_q4k n, p, high, c
    vmovdqu ymm12, [group + K45_QUANTS + 256 * \p + 32 * \c]
    .if \high
    vpsrlw  ymm12, ymm12, 4
    .endif
    vpand   ymm12, ymm12, low_nibbles
    multiply_tokens \n, (16 * \p + 8 * \high + \c), (\c % Q4K_CHUNKS == 0)
.endm

.macro sub_block_q4k n, p, high
    load_scales 13, (K45_SCALES + 16 * \p + 8 * \high), SIX_BITS
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    chunk_q4k \n, \p, \high, \c
    .if (\c + 1) % Q4K_CHUNKS == 0
    scale_tokens \n, (\p + \high + \c / Q4K_CHUNKS == 0), scale_short_token
    .endif
    .endr
.endm

.macro block_q4k n, scale
    broadcast_word 15, 0x0f0f0f0f
    prepare_sums_k45 \n
    .irp    p, 0, 1, 2, 3
    sub_block_q4k \n, \p, 0
    sub_block_q4k \n, \p, 1
    .endr
    finish_k45 \n, \scale
.endm

#endif
