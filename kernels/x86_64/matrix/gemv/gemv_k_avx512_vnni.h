// The gemvs of the K formats with AVX-512 VNNI on vectors of 256 bits, 8 rows at a time.
//
// gemv_rows.h names the registers of the loops; rax points to the sums.
// ymm1 scaled sum of a block; ymm2 sum of minima; ymm4-ymm7 sums of sub-blocks; ymm16-ymm23
// weights and scratch; ymm27-ymm29 masks.
// Clobbers the same as gemv_rows.h, and ymm2, zmm4, ymm5-ymm7, ymm16-ymm23, ymm27-ymm29; 127 bytes
// of red zone: the terms from the sums of x, in one cache line.
//
// Weights stay unsigned for vpdpbusd; vpmulld scales the sum of a sub-block. Loaded bytes
// are unpacked for all sub-blocks that share them: two with K45 types, four with K36 types.
#ifndef INGOT_KERNELS_X86_64_GEMV_K_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_K_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemv/gemv_rows.h"

    .altmacro                       // allows %(register number) in arguments of macros

#define sums rax
#define low_nibbles ymm27
#define six_bits ymm28
#define six_bits_128 xmm28
#define two_bits_128 xmm29

.macro multiply sum, weight, chunk
    vpdpbusd ymm\sum, ymm\weight, dword ptr [block + 4 * (\chunk)]{1to8}
.endm

// ymm1 += ymm sum * ymm16, the scales of its sub-block.
.macro add_scaled sum
    vpmulld ymm\sum, ymm\sum, ymm16
    vpaddd  ymm1, ymm1, ymm\sum
.endm

// ---- the K45 types --------------------------------------------------------------------------

.macro scale_k45 j, sum
    vpmovzxbd ymm16, [weights + K45_SCALES + 8 * (\j)]
    vpandd  ymm16, ymm16, six_bits
    add_scaled \sum
.endm

// Multiply the minima of sub-blocks 2p and 2p + 1 by the sums of x, both as pairs of int16.
.macro mins_k45 p
    vmovdqu32 xmm16, [weights + K45_SCALES + 16 * \p]
    vmovdqu32 xmm17, [weights + K45_MINS + 16 * (\p % 2)]
    vpsrlw  xmm16, xmm16, 6
    .if \p < 2
    vpsllw  xmm17, xmm17, 2
    .else
    vpsrlw  xmm17, xmm17, 2
    .endif
    vpternlogd xmm16, xmm17, two_bits_128, 0xe4 // low 2 bits from xmm16, other bits from xmm17
    vpandd  xmm16, xmm16, six_bits_128
    vpsrldq xmm17, xmm16, 8
    vpunpcklbw xmm16, xmm16, xmm17
    vpmovzxbw ymm16, xmm16
    vpdpwssd ymm2, ymm16, dword ptr [sums + 4 * \p]{1to8}
.endm

.macro finish_mins
    vbroadcastss ymm16, dword ptr [block + Q8K_SCALE]
    vcvtph2ps ymm17, [weights]
    vcvtph2ps ymm18, [weights + K_DMIN]
    vmulps  ymm17, ymm17, ymm16
    vmulps  ymm18, ymm18, ymm16
    vcvtdq2ps ymm1, ymm1
    vcvtdq2ps ymm2, ymm2
    vfmadd231ps ymm0, ymm1, ymm17
    vfnmadd231ps ymm0, ymm2, ymm18
.endm

// `chunk` is a macro that unpacks and multiplies a chunk of two sub-blocks.
.macro block_with_mins chunk
    vmovdqu xmm4, [block + Q8K_SUM]
    vphaddw xmm4, xmm4, [block + Q8K_SUM + 16]
    vmovdqu [sums], xmm4            // of 8 sub-blocks
    vpxor   xmm1, xmm1, xmm1
    vpxor   xmm2, xmm2, xmm2
    .irp    p, 0, 1, 2, 3
    vpxor   xmm4, xmm4, xmm4
    vpxor   xmm5, xmm5, xmm5
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    \chunk \p, \c, %(16 + \c % 4), %(20 + \c % 4)
    .endr
    scale_k45 (2 * \p), 4
    scale_k45 (2 * \p + 1), 5
    mins_k45 \p
    .endr
    finish_mins
.endm

// ---- the K36 types --------------------------------------------------------------------------

// Multiply sub-blocks 8 half + odd + 0, 2, 4 and 6, of four chunks each.
.macro sub_blocks_k36 chunk, half, odd
    .irp    s, 0, 1, 2, 3
    begin_k36 %(4 + \s), (8 * \half + 2 * \s + \odd)
    .endr
    .irp    c, 0, 1, 2, 3
    \chunk \half, %(4 * \odd + \c)
    .endr
    .irp    s, 0, 1, 2, 3
    scale_k36 %(4 + \s), (8 * \half + 2 * \s + \odd)
    .endr
.endm

.macro begin_k36 sum, j
    vpbroadcastd ymm\sum, dword ptr [sums + 4 * (\j)]
.endm

.macro scale_k36 sum, j
    vpmovsxbd ymm16, [weights + K36_SCALES + 8 * (\j)]
    add_scaled \sum
.endm

// Adding 2^shift makes a weight unsigned; the sums of x correct this.
.macro block_with_begins chunk, shift
    vpxor   xmm1, xmm1, xmm1
    vpmovsxwd zmm4, [block + Q8K_SUM]
    vpslld  zmm4, zmm4, \shift
    vpsubd  zmm4, zmm1, zmm4
    vmovdqu32 [sums], zmm4          // -2^shift times those of 16 sub-blocks
    sub_blocks_k36 \chunk, 0, 0
    sub_blocks_k36 \chunk, 0, 1
    sub_blocks_k36 \chunk, 1, 0
    sub_blocks_k36 \chunk, 1, 1
    vcvtph2ps ymm16, [weights]
    vmulps  ymm16, ymm16, dword ptr [block + Q8K_SCALE]{1to8}
    vcvtdq2ps ymm1, ymm1
    vfmadd231ps ymm0, ymm1, ymm16
.endm

// ---- the kernel -----------------------------------------------------------------------------

.macro mask_bytes reg, value
    mov     eax, \value
    vpbroadcastd ymm\reg, eax
.endm

// `masks` is a macro that loads the masks that the body needs.
.macro gemv_vnni_k name, body, block_bytes, masks
func \name
    mask_bytes 27, 0x0f0f0f0f
    mask_bytes 28, 0x3f3f3f3f
    mask_bytes 29, 0x03030303
    \masks
    lea     sums, [rsp - 64]
    and     sums, -64
    gemv_rows \body, 8, \block_bytes, Q8K_BYTES
endfunc \name
.endm

#endif
