// The gemm of Q5_K, Q3_K and Q2_K by AVX-512 VNNI, whose weights are joined from planes of bits:
// registers and algorithm are those of gemm_k_avx512_vnni.h.
//
// Weights of Q3_K get 4 added, which makes them unsigned and comes off with the sums of x.
#ifndef INGOT_KERNELS_X86_64_GEMM_K_BITS_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_K_BITS_AVX512_VNNI_H

#include "kernels/x86_64/gemm_k_avx512_vnni.h"

// Q2_K in the frame: minimums of 16 sub-blocks (256), sums of x as pairs (128).
#define PAIRS (MINS + 256)

.macro mask_bytes reg, value
    mov     eax, \value
    vpbroadcastd zmm\reg, eax
.endm

// Up by `by` bits, or down; what crosses bytes is masked after.
.macro shift_words to, from, by
    .if (\by) > 0
    vpsllw  zmm\to, zmm\from, (\by)
    .elseif (\by) < 0
    vpsrlw  zmm\to, zmm\from, -(\by)
    .elseif 1
    vmovdqa32 zmm\to, zmm\from
    .endif
.endm

// y += totals zmm4-zmm7 and minimums zmm first ... first + 3.
.macro finish_mins first
    vcvtph2ps ymm25, [group_a]
    vcvtph2ps ymm26, [group_a + Q4K_DMIN]
    vcvtph2ps ymm27, [group_b]
    vcvtph2ps ymm28, [group_b + Q4K_DMIN]
    vinsertf64x4 zmm25, zmm25, ymm27, 1
    vinsertf64x4 zmm26, zmm26, ymm28, 1
    .irp    t, 0, 1, 2, 3
    add_block_q4k \t, %(4 + \t), %(\first + \t)
    .endr
.endm

// ---- Q5_K -----------------------------------------------------------------------------------

// Chunk c of sub-blocks 2p and 2p + 1. zmm24 masks five bits.
.macro chunk_q5k p, c
    load_pair 20, (Q4K_QUANTS + 256 * \p + 32 * \c)
    load_pair 22, (Q5K_HIGH + 32 * \c)
    vpsrlw  zmm21, zmm20, 4
    shift_words 23, 22, (4 - 2 * \p)
    shift_words 28, 22, (3 - 2 * \p)
    vpternlogd zmm20, zmm23, low_nibbles, 0xe4 // low nibbles from zmm20, the others from zmm23
    vpternlogd zmm21, zmm28, low_nibbles, 0xe4
    vpandd  zmm20, zmm20, zmm24
    vpandd  zmm21, zmm21, zmm24
    multiply_tokens 8, 20, (16 * \p + \c)
    multiply_tokens 12, 21, (16 * \p + 8 + \c)
.endm

.macro sub_blocks_q5k p
    mask_bytes 24, 0x1f1f1f1f
    clear   8, 9, 10, 11, 12, 13, 14, 15
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    chunk_q5k \p, \c
    .endr
    vpmovzxbd zmm24, [frame + SCALES + 16 * \p]
    vpmovzxbd zmm27, [frame + SCALES + 64 + 16 * \p]
    scale_tokens 8, 24
    scale_tokens 12, 27
.endm

.macro block_q5k
    prepare_weights_q4k
    prepare_sums_q4k
    clear   4, 5, 6, 7, 16, 17, 18, 19
    .irp    p, 0, 1, 2, 3
    sub_blocks_q5k \p
    add_mins_q4k \p
    .endr
    finish_mins 16
    add     group_a, Q5K_BYTES
    add     group_b, Q5K_BYTES
.endm

// ---- Q3_K -----------------------------------------------------------------------------------

// -4 times the sums of 16 columns: of sub-block j of token t at 16 j + 4 t.
.macro prepare_sums_q3k
    clear   9
    .irp    i, 0, 1, 2, 3
    vpmovsxwd zmm8, [block + Q8KX4_SUM + 32 * \i]
    vpslld  zmm8, zmm8, 2
    vpsubd  zmm8, zmm9, zmm8
    vmovdqu32 [frame + SUMS + 64 * \i], zmm8
    .endr
.endm

// Of the chunk in zmm24, with signs zmm26, 32 columns number 4 half + s. zmm28 masks two bits, zmm29
// three.
.macro part_q3k half, s, c
    vpsrlw  zmm25, zmm24, 2 * \s
    shift_words 27, 26, (2 - 4 * \half - \s)
    vpternlogd zmm25, zmm27, zmm28, 0xb1 // two bits from zmm25, the others from zmm27, inverted
    vpandd  zmm25, zmm25, zmm29
    multiply_tokens %(8 + 4 * \s), 25, (32 * \half + 8 * \s + \c)
.endm

.macro chunk_q3k half, c
    load_pair 24, (Q3K_LOW + 256 * \half + 32 * \c)
    load_pair 26, (Q3K_HIGH + 32 * \c)
    .irp    s, 0, 1, 2, 3
    part_q3k \half, \s, \c
    .endr
.endm

.macro sub_blocks_q3k half, odd
    .irp    s, 0, 1, 2, 3
    .irp    t, 0, 1, 2, 3
    begin_q6k %(8 + 4 * \s + \t), (16 * (8 * \half + 2 * \s + \odd) + 4 * \t)
    .endr
    .endr
    .irp    c, 0, 1, 2, 3
    chunk_q3k \half, %(4 * \odd + \c)
    .endr
    .irp    s, 0, 1, 2, 3
    vpmovsxbd zmm24, [frame + SCALES + 128 * \half + 64 * \odd + 16 * \s]
    scale_tokens %(8 + 4 * \s), 24
    .endr
.endm

.macro block_q3k
    prepare_weights_q6k
    prepare_sums_q3k
    mask_bytes 28, 0x03030303
    mask_bytes 29, 0x07070707
    clear   4, 5, 6, 7
    sub_blocks_q3k 0, 0
    sub_blocks_q3k 0, 1
    sub_blocks_q3k 1, 0
    sub_blocks_q3k 1, 1
    load_scales 25, 26
    .irp    t, 0, 1, 2, 3
    add_block_q6k \t, %(4 + \t)
    .endr
    add     group_a, Q3K_BYTES
    add     group_b, Q3K_BYTES
.endm

// ---- Q2_K -----------------------------------------------------------------------------------

// 4-bit scales and minimums of eight sub-blocks of both groups, from `at` on, to the stack.
.macro prepare_half_q2k at, to
    vmovdqu32 zmm16, [group_a + \at]
    vmovdqu32 zmm17, [group_b + \at]
    vpsrlw  zmm18, zmm16, 4
    vpsrlw  zmm19, zmm17, 4
    vpandd  zmm16, zmm16, low_nibbles
    vpandd  zmm17, zmm17, low_nibbles
    vpandd  zmm18, zmm18, low_nibbles
    vpandd  zmm19, zmm19, low_nibbles
    store_pairs (SCALES + \to), 16, 17, 20
    store_pairs (MINS + \to), 18, 19, 20
.endm

// Sums of 16 columns as pairs of int16: of sub-blocks 2p and 2p + 1 of token t at 16 p + 4 t.
.macro prepare_sums_q2k
    .irp    p, 0, 1, 2, 3, 4, 5, 6, 7
    vmovq   xmm8, qword ptr [block + Q8KX4_SUM + 16 * \p]
    vmovq   xmm9, qword ptr [block + Q8KX4_SUM + 16 * \p + 8]
    vpunpcklwd xmm8, xmm8, xmm9
    vmovdqu [frame + PAIRS + 16 * \p], xmm8
    .endr
.endm

.macro part_q2k half, s, c
    vpsrlw  zmm25, zmm24, 2 * \s
    vpandd  zmm25, zmm25, zmm28
    multiply_tokens %(8 + 4 * \s), 25, (32 * \half + 8 * \s + \c)
.endm

.macro chunk_q2k half, c
    load_pair 24, (Q2K_QUANTS + 256 * \half + 32 * \c)
    .irp    s, 0, 1, 2, 3
    part_q2k \half, \s, \c
    .endr
.endm

.macro sub_blocks_q2k half, odd
    clear   8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
    .irp    c, 0, 1, 2, 3
    chunk_q2k \half, %(4 * \odd + \c)
    .endr
    .irp    s, 0, 1, 2, 3
    vpmovzxbd zmm24, [frame + SCALES + 128 * \half + 64 * \odd + 16 * \s]
    scale_tokens %(8 + 4 * \s), 24
    .endr
.endm

.macro add_mins_q2k p
    vpmovzxbd zmm25, [frame + MINS + 128 * (\p / 4) + 16 * (\p % 4)]
    vpmovzxbd zmm26, [frame + MINS + 128 * (\p / 4) + 64 + 16 * (\p % 4)]
    vpslld  zmm26, zmm26, 16
    vpord   zmm25, zmm25, zmm26
    .irp    t, 0, 1, 2, 3
    add_min_q2k %(8 + \t), (16 * \p + 4 * \t)
    .endr
.endm

.macro add_min_q2k sum, at
    vpdpwssd zmm\sum, zmm25, dword ptr [frame + PAIRS + \at]{1to16}
.endm

.macro block_q2k
    prepare_half_q2k Q2K_SCALES, 0
    prepare_half_q2k (Q2K_SCALES + 64), 128
    prepare_sums_q2k
    mask_bytes 28, 0x03030303
    clear   4, 5, 6, 7
    sub_blocks_q2k 0, 0
    sub_blocks_q2k 0, 1
    sub_blocks_q2k 1, 0
    sub_blocks_q2k 1, 1
    clear   8, 9, 10, 11
    .irp    p, 0, 1, 2, 3, 4, 5, 6, 7
    add_mins_q2k \p
    .endr
    finish_mins 8
    add     group_a, Q2K_BYTES
    add     group_b, Q2K_BYTES
.endm

#endif
