// Q4_K and Q6_K for gemm_k_panel_avx512_vnni.h, which has the registers: how their blocks are unpacked and
// multiplied; and what the formats that are joined from planes of bits have of both.
//
// Scales of both groups lie on the stack as bytes, those of even sub-blocks first, so that one
// vpmovzxbd fetches 16 rows of a sub-block.
#ifndef INGOT_KERNELS_X86_64_GEMM_K_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_K_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemm/gemm_k_panel_avx512_vnni.h"

// ---- Q4_K -----------------------------------------------------------------------------------

// 6-bit scales and minimums of both groups to the stack.
.macro prepare_weights_q4k
    vmovdqu32 zmm16, [group_a + Q4K_SCALES]
    vmovdqu32 zmm17, [group_b + Q4K_SCALES]
    vmovdqu32 ymm18, [group_a + Q4K_MINS]
    vmovdqu32 ymm19, [group_b + Q4K_MINS]
    mov     eax, 0x03030303
    vpbroadcastd zmm26, eax
    vpsrlw  zmm20, zmm16, 6
    vpsrlw  zmm21, zmm17, 6
    vpandd  zmm20, zmm20, zmm26     // low bits of the minimums
    vpandd  zmm21, zmm21, zmm26
    vpandd  zmm16, zmm16, six_bits
    vpandd  zmm17, zmm17, six_bits
    store_pairs SCALES, 16, 17, 22
    vpsrlw  ymm22, ymm18, 4
    vpsrlw  ymm23, ymm19, 4
    vinserti64x4 zmm18, zmm18, ymm22, 1
    vinserti64x4 zmm19, zmm19, ymm23, 1
    vpandd  zmm18, zmm18, low_nibbles
    vpandd  zmm19, zmm19, low_nibbles
    vpsllw  zmm18, zmm18, 2
    vpsllw  zmm19, zmm19, 2
    vpord   zmm18, zmm18, zmm20
    vpord   zmm19, zmm19, zmm21
    store_pairs MINS, 18, 19, 22
.endm

// Sums of 32 columns as pairs of int16 to the stack: of sub-blocks 2p and 2p + 1 of token t at
// 16 p + 4 t.
.macro prepare_sums_q4k
    vmovdqu32 zmm8, [block + Q8KX4_SUM]
    vmovdqu32 zmm9, [block + Q8KX4_SUM + 64]
    vpunpcklqdq zmm10, zmm8, zmm9
    vpunpckhqdq zmm8, zmm8, zmm9
    vpaddw  zmm8, zmm8, zmm10       // of sub-blocks 0 4, 1 5, 2 6, 3 7, four tokens each
    vextracti32x4 xmm9, zmm8, 1
    vextracti32x4 xmm10, zmm8, 2
    vextracti32x4 xmm11, zmm8, 3
    vpunpcklwd xmm12, xmm8, xmm9
    vpunpckhwd xmm13, xmm8, xmm9
    vpunpcklwd xmm14, xmm10, xmm11
    vpunpckhwd xmm15, xmm10, xmm11
    vmovdqu [frame + SUMS], xmm12
    vmovdqu [frame + SUMS + 16], xmm14
    vmovdqu [frame + SUMS + 32], xmm13
    vmovdqu [frame + SUMS + 48], xmm15
.endm

.macro unpack_chunk_q4k half, p, c
    load_pair 20, (Q4K_QUANTS + 256 * \p + 32 * \c)
    vpsrlw  zmm21, zmm20, 4
    vpandd  zmm20, zmm20, low_nibbles
    vpandd  zmm21, zmm21, low_nibbles
    store_chunk 20, \half, (16 * \p + \c)
    store_chunk 21, \half, (16 * \p + 8 + \c)
.endm

// Scales as `factor` leaves them, minimums, d and dmin.
.macro unpack_scales_q4k half, factor
    prepare_weights_q4k
    .irp    j, 0, 1, 2, 3, 4, 5, 6, 7
    \factor vpmovzxbd, (64 * (\j % 2) + 16 * (\j / 2)), \half, \j
    .endr
    .irp    p, 0, 1, 2, 3
    unpack_mins (16 * \p), \half, \p
    .endr
    unpack_floats 0, D, \half
    unpack_floats Q4K_DMIN, DMIN, \half
.endm

.macro unpack_q4k half
    unpack_scales_q4k \half, unpack_float_factor
    .irp    p, 0, 1, 2, 3
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_chunk_q4k \half, \p, \c
    .endr
    .endr
.endm

.macro add_total t
    vaddps  zmm\t, zmm\t, [frame + TOTALS + 64 * \t]
.endm

.macro tokens_q4k
    prepare_sums_q4k
    clear   0, 1, 2, 3, 4, 5, 6, 7
    sub_blocks_of_32 0, scale_float
    sub_blocks_of_32 1, scale_float
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    store_frame \t, (TOTALS + 64 * \t)
    .endr
    clear   0, 1, 2, 3, 4, 5, 6, 7
    sub_blocks_of_32 2, scale_float
    sub_blocks_of_32 3, scale_float
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    add_total \t
    .endr
    add_mins 0, 1, 2, 3
    each_token add_token_with_mins
.endm

// ---- Q6_K -----------------------------------------------------------------------------------

.macro prepare_weights_q6k
    vmovdqu32 zmm16, [group_a + Q6K_SCALES]
    vmovdqu32 zmm17, [group_b + Q6K_SCALES]
    vmovdqu32 zmm18, [group_a + Q6K_SCALES + 64]
    vmovdqu32 zmm19, [group_b + Q6K_SCALES + 64]
    store_pairs SCALES, 16, 17, 20
    store_pairs (SCALES + 128), 18, 19, 20
.endm

// 16 scales as `factor` leaves them, and d.
.macro unpack_scales_q6k half, factor
    prepare_weights_q6k
    .irp    part, 0, 1
    .irp    j, 0, 1, 2, 3, 4, 5, 6, 7
    \factor vpmovsxbd, (128 * \part + 64 * (\j % 2) + 16 * (\j / 2)), \half, (8 * \part + \j)
    .endr
    .endr
    unpack_floats 0, D, \half
.endm

// zmm low: its low nibbles and bits 4 and 5 of zmm high, to chunk `chunk`.
.macro store_joined low, high, half, chunk
    vpternlogd zmm\low, zmm\high, low_nibbles, 0xe4 // low nibbles from low, the others from high
    vpandd  zmm\low, zmm\low, six_bits
    store_chunk \low, \half, (\chunk)
.endm

// Chunk c (0 to 7) of the four times 32 columns of part `part` of a block.
.macro unpack_chunk_q6k half, part, c
    load_pair 24, (Q6K_LOW + 512 * \part + 32 * \c)
    load_pair 26, (Q6K_HIGH + 256 * \part + 32 * \c)
    vpsrlw  zmm25, zmm24, 4
    vpsllw  zmm27, zmm26, 4
    vpsllw  zmm28, zmm26, 2
    store_joined 24, 27, \half, (32 * \part + \c)
    store_joined 25, 28, \half, (32 * \part + 8 + \c)
    load_pair 24, (Q6K_LOW + 512 * \part + 256 + 32 * \c)
    vpsrlw  zmm29, zmm26, 2
    vpsrlw  zmm25, zmm24, 4
    store_joined 24, 26, \half, (32 * \part + 16 + \c)
    store_joined 25, 29, \half, (32 * \part + 24 + \c)
.endm

.macro unpack_q6k half
    unpack_scales_q6k \half, unpack_factor
    .irp    part, 0, 1
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_chunk_q6k \half, \part, \c
    .endr
    .endr
.endm

.macro tokens_q6k
    prepare_begins 5                // a weight is 32 less than its bits
    clear   0, 1, 2, 3, 4, 5, 6, 7
    sub_blocks_of_16 scale_int, 1
    totals_to_floats
    each_token add_token
.endm

#endif
