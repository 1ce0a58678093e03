// Q5_K, Q3_K and Q2_K for gemm_k_panel_avx512_vnni.h: weights that are joined from planes of bits. Weights of Q3_K get
// 4 added, which makes them unsigned and comes off with the sums of x.
#ifndef INGOT_KERNELS_X86_64_GEMM_K_BITS_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_K_BITS_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemm/gemm_k_avx512_vnni.h"

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

// ---- Q5_K -----------------------------------------------------------------------------------

// Chunk c of sub-blocks 2p and 2p + 1. zmm24 masks five bits.
.macro unpack_chunk_q5k half, p, c
    load_pair 20, (Q4K_QUANTS + 256 * \p + 32 * \c)
    load_pair 22, (Q5K_HIGH + 32 * \c)
    vpsrlw  zmm21, zmm20, 4
    shift_words 23, 22, (4 - 2 * \p)
    shift_words 28, 22, (3 - 2 * \p)
    vpternlogd zmm20, zmm23, low_nibbles, 0xe4 // low nibbles from zmm20, the others from zmm23
    vpternlogd zmm21, zmm28, low_nibbles, 0xe4
    vpandd  zmm20, zmm20, zmm24
    vpandd  zmm21, zmm21, zmm24
    store_chunk 20, \half, (16 * \p + \c)
    store_chunk 21, \half, (16 * \p + 8 + \c)
.endm

.macro unpack_q5k half
    unpack_scales_q4k \half, unpack_factor
    mask_bytes 24, 0x1f1f1f1f
    .irp    p, 0, 1, 2, 3
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_chunk_q5k \half, \p, \c
    .endr
    .endr
.endm

.macro tokens_q5k
    prepare_sums_q4k
    clear   0, 1, 2, 3, 4, 5, 6, 7
    .irp    p, 0, 1, 2, 3
    sub_blocks_of_32 \p, scale_int
    .endr
    totals_to_floats
    add_mins 0, 1, 2, 3
    each_token add_token_with_mins
.endm

// ---- Q3_K -----------------------------------------------------------------------------------

// For the chunk in zmm24, with signs zmm26, 32 columns number 4 part + s. zmm28 masks two bits, zmm29
// three.
.macro unpack_quarter_q3k half, part, s, c
    vpsrlw  zmm25, zmm24, 2 * \s
    shift_words 27, 26, (2 - 4 * \part - \s)
    vpternlogd zmm25, zmm27, zmm28, 0xb1 // two bits from zmm25, the others from zmm27, inverted
    vpandd  zmm25, zmm25, zmm29
    store_chunk 25, \half, (32 * \part + 8 * \s + \c)
.endm

.macro unpack_chunk_q3k half, part, c
    load_pair 24, (Q3K_LOW + 256 * \part + 32 * \c)
    load_pair 26, (Q3K_HIGH + 32 * \c)
    .irp    s, 0, 1, 2, 3
    unpack_quarter_q3k \half, \part, \s, \c
    .endr
.endm

.macro unpack_q3k half
    unpack_scales_q6k \half, unpack_narrow_factor
    mask_bytes 28, 0x03030303
    mask_bytes 29, 0x07070707
    .irp    part, 0, 1
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_chunk_q3k \half, \part, \c
    .endr
    .endr
.endm

.macro tokens_q3k
    prepare_begins 2
    clear   0, 1, 2, 3, 4, 5, 6, 7
    sub_blocks_of_16 scale_narrow, 1
    totals_to_floats
    each_token add_token
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
    vmovdqu [frame + SUMS + 16 * \p], xmm8
    .endr
.endm

// zmm28 masks two bits.
.macro unpack_quarter_q2k half, part, s, c
    vpsrlw  zmm25, zmm24, 2 * \s
    vpandd  zmm25, zmm25, zmm28
    store_chunk 25, \half, (32 * \part + 8 * \s + \c)
.endm

.macro unpack_chunk_q2k half, part, c
    load_pair 24, (Q2K_QUANTS + 256 * \part + 32 * \c)
    .irp    s, 0, 1, 2, 3
    unpack_quarter_q2k \half, \part, \s, \c
    .endr
.endm

// Scales and minimums of sub-blocks 8 part + j.
.macro unpack_scales_q2k half, part
    .irp    j, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_factor vpmovzxbd, (128 * \part + 64 * (\j % 2) + 16 * (\j / 2)), \half, (8 * \part + \j)
    .endr
    .irp    p, 0, 1, 2, 3
    unpack_mins (128 * \part + 16 * \p), \half, (4 * \part + \p)
    .endr
.endm

.macro unpack_q2k half
    prepare_half_q2k Q2K_SCALES, 0
    prepare_half_q2k (Q2K_SCALES + 64), 128
    mask_bytes 28, 0x03030303
    .irp    part, 0, 1
    unpack_scales_q2k \half, \part
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_chunk_q2k \half, \part, \c
    .endr
    .endr
    unpack_floats 0, D, \half
    unpack_floats Q4K_DMIN, DMIN, \half
.endm

.macro tokens_q2k
    prepare_sums_q2k
    clear   0, 1, 2, 3, 4, 5, 6, 7
    sub_blocks_of_16 scale_narrow, 0
    totals_to_floats
    add_mins 0, 1, 2, 3, 4, 5, 6, 7
    each_token add_token_with_mins
.endm

#endif
