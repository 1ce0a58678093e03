// A block of Q5_K by AVX-VNNI: k_pairs_avx2_vnni.h has registers and loops.
#ifndef INGOT_KERNELS_X86_64_Q5K_AVX2_VNNI_H
#define INGOT_KERNELS_X86_64_Q5K_AVX2_VNNI_H

#include "kernels/x86_64/matrix/k_pairs_avx2_vnni.h"

// ymm weight |= bit `plane` of each byte at `at`, as bit 4.
.macro join_bit weight, at, plane
    vmovdqu ymm14, [group + \at]
    shift_words ymm14, ymm14, (4 - (\plane))
    vpand   ymm14, ymm14, BIT_4
    vpor    ymm\weight, ymm\weight, ymm14
.endm

// Multiply chunk c of sub-blocks 2p and 2p + 1.
.macro chunks_q5k n, p, c
    vmovdqu ymm12, [group + K45_QUANTS + 256 * \p + 32 * \c]
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
    load_scales 12, (K45_SCALES + 16 * \p), SIX_BITS
    load_scales 13, (K45_SCALES + 16 * \p + 8), SIX_BITS
    scale_pair \n, (\p == 0)
.endm

.macro block_pairs_q5k n, scale
    broadcast_word 15, 0x0f0f0f0f
    prepare_sums_k45 \n
    put_y   \n
    .irp    p, 0, 1, 2, 3
    sub_blocks_q5k \n, \p
    .endr
    take_y  \n
    finish_k45 \n, \scale
.endm

#endif
