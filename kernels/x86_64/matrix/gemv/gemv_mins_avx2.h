// The gemv of Q4_1, Q5_0 and Q5_1 with AVX2, or with AVX-VNNI if a kernel defines AVX_VNNI before it
// includes this header.
//
// gemv_rows.h names the registers of the loops.
// ymm1, ymm2 sums of low and high nibbles, in int16 (AVX2) or int32; ymm3, ymm4 weights; ymm5, ymm6 x;
// ymm7 scratch, then x.sum; ymm8 fifth bits; ymm9 scratch, then minima; ymm13 mask of a fifth
// bit; ymm14 ones; ymm15 mask of low nibbles.
// Clobbers the same as gemv_rows.h, and ymm2-ymm9, ymm13-ymm15.
//
// As in the gemv of Q4_0, q stays unsigned. If q has 5 bits, a pair of products is at most 2 * 31 *
// 128 = 7936. So an int16 can add 4 pairs, 31744; low and high nibbles are then added as int32.
// For Q5_0, 16 * sum(x) is subtracted; a minimum is multiplied by sum(x) times the scale of x.
#ifndef INGOT_KERNELS_X86_64_GEMV_MINS_AVX2_H
#define INGOT_KERNELS_X86_64_GEMV_MINS_AVX2_H

#include "kernels/x86_64/matrix/gemv/gemv_rows.h"

    .altmacro                       // callers put < > around arguments with commas

// Add bit `bit` of every byte of ymm8 to ymm weight, as the fifth bit.
.macro add_fifth weight, bit
    .if \bit < 4
    vpsllw  ymm9, ymm8, 4 - \bit
    vpand   ymm9, ymm9, ymm13
    .elseif \bit > 4
    vpsrlw  ymm9, ymm8, \bit - 4
    vpand   ymm9, ymm9, ymm13
    .else
    vpand   ymm9, ymm8, ymm13
    .endif
    vpor    ymm\weight, ymm\weight, ymm9
.endm

.macro multiply sum, weight, x, begin
#ifdef AVX_VNNI
    .if \begin
    vpxor   xmm\sum, xmm\sum, xmm\sum
    .endif
    {vex} vpdpbusd ymm\sum, ymm\weight, ymm\x
#else
    .if \begin
    vpmaddubsw ymm\sum, ymm\weight, ymm\x
    .else
    vpmaddubsw ymm\weight, ymm\weight, ymm\x
    vpaddw  ymm\sum, ymm\sum, ymm\weight
    .endif
#endif
.endm

// Multiply chunks c and c + 4 of 8 rows.
.macro chunk c, quants, high
    vmovdqu ymm3, [weights + \quants + 32 * \c]
    vpbroadcastd ymm5, dword ptr [block + 4 * \c]
    vpbroadcastd ymm6, dword ptr [block + 16 + 4 * \c]
    vpsrlw  ymm4, ymm3, 4
    vpand   ymm3, ymm3, ymm15
    vpand   ymm4, ymm4, ymm15
    .if \high
    add_fifth 3, \c
    add_fifth 4, (\c + 4)
    .endif
    multiply 1, 3, 5, (\c == 0)
    multiply 2, 4, 6, (\c == 0)
.endm

// ymm1 = the integers of 8 rows.
.macro add_halves high
#ifdef AVX_VNNI
    vpaddd  ymm1, ymm1, ymm2
#else
    .if \high
    vpmaddwd ymm1, ymm1, ymm14
    vpmaddwd ymm2, ymm2, ymm14
    vpaddd  ymm1, ymm1, ymm2
    .else
    vpaddw  ymm1, ymm1, ymm2
    vpmaddwd ymm1, ymm1, ymm14
    .endif
#endif
.endm

// The arguments are offsets in a block of w: of the quants, of the fifth bits (0: none) and of the
// minima (0: none).
.macro block_mins quants, high, mins
    .if \high
    vmovdqu ymm8, [weights + \high]
    .endif
    .irp    c, 0, 1, 2, 3
    chunk   \c, \quants, \high
    .endr
    vpbroadcastd ymm7, dword ptr [block + Q8_SUM]
    vcvtph2ps ymm3, [weights]
    vbroadcastss ymm4, dword ptr [block + Q8_SCALE]
    add_halves \high
    .if \mins
    vcvtdq2ps ymm7, ymm7
    vcvtph2ps ymm9, [weights + \mins]
    vmulps  ymm7, ymm7, ymm4
    .else
    vpslld  ymm7, ymm7, 4
    vpsubd  ymm1, ymm1, ymm7
    .endif
    vmulps  ymm3, ymm3, ymm4        // scale of a row * scale of x
    vcvtdq2ps ymm1, ymm1
    vfmadd231ps ymm0, ymm1, ymm3
    .if \mins
    vfmadd231ps ymm0, ymm9, ymm7
    .endif
.endm

.macro gemv_mins name, block_bytes, quants, high, mins
func \name
    broadcast_word 15, 0x0f0f0f0f
    broadcast_word 14, 0x00010001
    broadcast_word 13, 0x10101010
    gemv_rows <block_mins \quants, \high, \mins>, 5, \block_bytes, Q8_BYTES
endfunc \name
.endm

#endif
