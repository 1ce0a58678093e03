// The gemv of Q5_K, Q3_K and Q2_K by AVX-512 VNNI, whose weights are joined from planes of bits: as
// gemv_k_avx512_vnni.h has Q4_K and Q6_K. Also clobbers ymm24-ymm26, ymm30, ymm31.
//
// Weights of Q3_K get 4 added, which makes them unsigned and comes off with the sums of x.
#ifndef INGOT_KERNELS_X86_64_GEMV_K_BITS_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_K_BITS_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemv/gemv_k_avx512_vnni.h"

#define mask ymm30              // of whole weights
#define two_bits ymm31

// Up by `by` bits, or down; what crosses bytes is masked after.
.macro shift_words to, from, by
    .if (\by) > 0
    vpsllw  ymm\to, ymm\from, (\by)
    .elseif (\by) < 0
    vpsrlw  ymm\to, ymm\from, -(\by)
    .elseif 1
    vmovdqa32 ymm\to, ymm\from
    .endif
.endm

// ---- Q5_K -----------------------------------------------------------------------------------

// Chunk c of sub-blocks 2p and 2p + 1.
.macro chunk_q5k p, c, low, high
    vmovdqu32 ymm\low, [weights + Q4K_QUANTS + 256 * \p + 32 * \c]
    vmovdqu32 ymm24, [weights + Q5K_HIGH + 32 * \c]
    vpsrlw  ymm\high, ymm\low, 4
    shift_words 25, 24, (4 - 2 * \p)
    shift_words 26, 24, (3 - 2 * \p)
    vpternlogd ymm\low, ymm25, low_nibbles, 0xe4 // low nibbles from low, the others from ymm25
    vpternlogd ymm\high, ymm26, low_nibbles, 0xe4
    vpandd  ymm\low, ymm\low, mask
    vpandd  ymm\high, ymm\high, mask
    multiply 4, \low, (16 * \p + \c)
    multiply 5, \high, (16 * \p + 8 + \c)
.endm

.macro masks_q5k
    mask_bytes 30, 0x1f1f1f1f
.endm

.macro block_q5k
    block_with_mins chunk_q5k
.endm

// ---- Q3_K -----------------------------------------------------------------------------------

// For the chunk in ymm16, with signs ymm22, 32 columns number 4 half + s.
.macro part_q3k half, s, c
    vpsrlw  ymm17, ymm16, 2 * \s
    shift_words 23, 22, (2 - 4 * \half - \s)
    vpternlogd ymm17, ymm23, two_bits, 0xb1 // two bits from ymm17, the others from ymm23, inverted
    vpandd  ymm17, ymm17, mask
    multiply %(4 + \s), 17, (32 * \half + 8 * \s + \c)
.endm

.macro chunk_q3k half, c
    vmovdqu32 ymm16, [weights + Q3K_LOW + 256 * \half + 32 * \c]
    vmovdqu32 ymm22, [weights + Q3K_HIGH + 32 * \c]
    .irp    s, 0, 1, 2, 3
    part_q3k \half, \s, \c
    .endr
.endm

.macro masks_q3k
    mask_bytes 30, 0x07070707
    mask_bytes 31, 0x03030303
.endm

.macro block_q3k
    block_with_begins chunk_q3k, 2
.endm

// ---- Q2_K -----------------------------------------------------------------------------------

.macro part_q2k half, s, c
    vpsrlw  ymm17, ymm16, 2 * \s
    vpandd  ymm17, ymm17, two_bits
    multiply %(4 + \s), 17, (32 * \half + 8 * \s + \c)
.endm

.macro chunk_q2k half, c
    vmovdqu32 ymm16, [weights + Q2K_QUANTS + 256 * \half + 32 * \c]
    .irp    s, 0, 1, 2, 3
    part_q2k \half, \s, \c
    .endr
.endm

.macro scale_q2k sum, j
    vpmovzxbd ymm16, [weights + Q2K_SCALES + 8 * (\j)]
    vpandd  ymm16, ymm16, low_nibbles
    add_scaled \sum
.endm

.macro sub_blocks_q2k half, odd
    .irp    s, 4, 5, 6, 7
    vpxor   xmm\s, xmm\s, xmm\s
    .endr
    .irp    c, 0, 1, 2, 3
    chunk_q2k \half, %(4 * \odd + \c)
    .endr
    .irp    s, 0, 1, 2, 3
    scale_q2k %(4 + \s), (8 * \half + 2 * \s + \odd)
    .endr
.endm

// Minimums of sub-blocks 2p and 2p + 1 as pairs of int16, by the sums of x, which lie in pairs.
.macro mins_q2k p
    vmovdqu32 xmm16, [weights + Q2K_SCALES + 16 * \p]
    vpsrlw  xmm16, xmm16, 4
    vpandd  xmm16, xmm16, xmm27
    vpsrldq xmm17, xmm16, 8
    vpunpcklbw xmm16, xmm16, xmm17
    vpmovzxbw ymm16, xmm16
    vpdpwssd ymm2, ymm16, dword ptr [block + Q8K_SUM + 4 * \p]{1to8}
.endm

.macro masks_q2k
    mask_bytes 31, 0x03030303
.endm

.macro block_q2k
    vpxor   xmm1, xmm1, xmm1
    vpxor   xmm2, xmm2, xmm2
    sub_blocks_q2k 0, 0
    sub_blocks_q2k 0, 1
    sub_blocks_q2k 1, 0
    sub_blocks_q2k 1, 1
    .irp    p, 0, 1, 2, 3, 4, 5, 6, 7
    mins_q2k \p
    .endr
    finish_mins
.endm

#endif
