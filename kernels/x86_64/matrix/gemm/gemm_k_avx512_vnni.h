// Scales and sums of the K45 and the K36 types. gemm_k_panel_avx512_vnni.h uses them and lists the
// registers.
//
// The scales of both groups are on the stack as bytes: first those of even sub-blocks, then those
// of odd ones. One vpmovzxbd thus fetches the scales of a sub-block for 16 rows.
#ifndef INGOT_KERNELS_X86_64_GEMM_K_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_K_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemm/gemm_k_panel_avx512_vnni.h"

// ---- the K45 types --------------------------------------------------------------------------

// Store the 6-bit scales and minima of both groups to the stack.
.macro prepare_weights_k45
    vmovdqu32 zmm16, [group_a + K45_SCALES]
    vmovdqu32 zmm17, [group_b + K45_SCALES]
    vmovdqu32 ymm18, [group_a + K45_MINS]
    vmovdqu32 ymm19, [group_b + K45_MINS]
    mov     eax, 0x03030303
    vpbroadcastd zmm26, eax
    vpsrlw  zmm20, zmm16, 6
    vpsrlw  zmm21, zmm17, 6
    vpandd  zmm20, zmm20, zmm26     // low bits of the minima
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

// Store sums over 32 columns to the stack, as pairs of int16:
// those of sub-blocks 2p and 2p + 1 of token t at 16 p + 4 t.
.macro prepare_sums_k45
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

// Store the scales, minima, d and dmin. `factor` converts a scale and stores it.
.macro unpack_scales_k45 half, factor
    prepare_weights_k45
    .irp    j, 0, 1, 2, 3, 4, 5, 6, 7
    \factor vpmovzxbd, (64 * (\j % 2) + 16 * (\j / 2)), \half, \j
    .endr
    .irp    p, 0, 1, 2, 3
    unpack_mins (16 * \p), \half, \p
    .endr
    unpack_floats 0, D, \half
    unpack_floats K_DMIN, DMIN, \half
.endm

// ---- the K36 types --------------------------------------------------------------------------

.macro prepare_weights_k36
    vmovdqu32 zmm16, [group_a + K36_SCALES]
    vmovdqu32 zmm17, [group_b + K36_SCALES]
    vmovdqu32 zmm18, [group_a + K36_SCALES + 64]
    vmovdqu32 zmm19, [group_b + K36_SCALES + 64]
    store_pairs SCALES, 16, 17, 20
    store_pairs (SCALES + 128), 18, 19, 20
.endm

// Store 16 scales and d. `factor` converts a scale and stores it.
.macro unpack_scales_k36 half, factor
    prepare_weights_k36
    .irp    part, 0, 1
    .irp    j, 0, 1, 2, 3, 4, 5, 6, 7
    \factor vpmovsxbd, (128 * \part + 64 * (\j % 2) + 16 * (\j / 2)), \half, (8 * \part + \j)
    .endr
    .endr
    unpack_floats 0, D, \half
.endm

#endif
