// Shared by the kernels that quantize activations.
//
// d = max |x| / 127 and q = nearest even of x * (127 / max |x|). vcvtps2dq rounds as MXCSR says, to
// nearest even, like the addition and subtraction of 1.5 * 2^23 in the reference. If max is below
// 2^-100, a comparison clears both d and 127 / max, so every q is 0.
#ifndef INGOT_KERNELS_X86_64_QUANTIZE_H
#define INGOT_KERNELS_X86_64_QUANTIZE_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

    .altmacro                       // allows %(register number) in arguments of macros

#define out rdi
#define vector rsi
#define left rdx

#define LEAST_MAX 0x0d800000        /* 2^-100 */
#define F32_127 0x42fe0000
#define NOT_LESS 0x1d               /* operand of vcmpps; NaN raises no exception */

// Every word of xmm reg = the greatest word of ymm reg. Destroys ymm other.
.macro spread_max reg, other
    vextractf128 xmm\other, ymm\reg, 1
    vmaxps  xmm\reg, xmm\reg, xmm\other
    vpermilps xmm\other, xmm\reg, 0x4e
    vmaxps  xmm\reg, xmm\reg, xmm\other
    vpermilps xmm\other, xmm\reg, 0xb1
    vmaxps  xmm\reg, xmm\reg, xmm\other
.endm

// ---- AVX2 -----------------------------------------------------------------------------------

// Set ymm11 = the smallest max, ymm12 = the order of words after
// packing, ymm13 = magnitude bits, ymm14 = 127. Destroys rax.
#define word_order ymm12
#define magnitude ymm13

.macro prepare_avx2
    broadcast_word 11, LEAST_MAX
    broadcast_word 13, 0x7fffffff
    broadcast_word 14, F32_127
    movabs  rax, 0x0703060205010400
    vmovq   xmm12, rax
    vpmovzxbd word_order, xmm12
.endm

// xmm4 = d and every word of ymm5 = 127 / max, where max is the greatest of ymm4. Destroys xmm6.
.macro find_scales_avx2
    spread_max 4, 5
    vcmpps  xmm6, xmm4, xmm11, NOT_LESS
    vdivps  xmm5, xmm14, xmm4
    vandps  xmm4, xmm4, xmm6
    vandps  xmm5, xmm5, xmm6
    vdivss  xmm4, xmm4, xmm14
    vbroadcastss ymm5, xmm5
.endm

// ymm0 = the 32 words of ymm0-ymm3 as bytes. Destroys ymm2.
.macro pack_bytes
    vpackssdw ymm0, ymm0, ymm1
    vpackssdw ymm2, ymm2, ymm3
    vpacksswb ymm0, ymm0, ymm2      // words 0 2 4 6 1 3 5 7 of four columns
    vpermd  ymm0, word_order, ymm0
.endm

// ---- AVX-512 --------------------------------------------------------------------------------

    .section .rodata.kernels_quantize_places, "aG", @progbits, kernels_quantize_places, comdat
    .p2align 6
    .weak   kernels_quantize_places
    .hidden kernels_quantize_places
    .type   kernels_quantize_places, @object
kernels_quantize_places:
    .byte   0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15
    .size   kernels_quantize_places, . - kernels_quantize_places

// Control byte of vrangeps: return the greater of two magnitudes, without its sign.
#define GREATER_MAGNITUDE 0x0b

// zmm27 zero, zmm28 2^-100, zmm29 127, zmm30 top bits of bytes, zmm31 order of words after packing.
// Destroys eax.
.macro prepare_avx512
    vpxord  zmm27, zmm27, zmm27
    mov     eax, LEAST_MAX
    vpbroadcastd zmm28, eax
    mov     eax, F32_127
    vpbroadcastd zmm29, eax
    mov     eax, 0x80808080
    vpbroadcastd zmm30, eax
    vpmovzxbd zmm31, [rip + kernels_quantize_places]
.endm

.macro take_magnitude to, a, b
    vrangeps zmm\to, zmm\a, zmm\b, GREATER_MAGNITUDE
.endm

// In each lane of v max (v is zmm or xmm), the maximum becomes d = maximum / 127, and v inverse = 127 / maximum.
// Both are 0 if the maximum is below 2^-100.
.macro find_scales_avx512 v, max, inverse
    vcmpps  k1, \v\max, \v\()28, NOT_LESS
    vdivps  \v\inverse{k1}{z}, \v\()29, \v\max
    vdivps  \v\max{k1}{z}, \v\max, \v\()29
.endm

// zmm a = 64 bytes: the values in zmm a to d, 16 each, times the
// inverses. zmm sums = the sum of every 8 bytes, plus 1024.
.macro quantize_four a, b, c, d, inverse_ab, inverse_cd, sums
    vmulps  zmm\a, zmm\a, zmm\inverse_ab
    vmulps  zmm\b, zmm\b, zmm\inverse_ab
    vmulps  zmm\c, zmm\c, zmm\inverse_cd
    vmulps  zmm\d, zmm\d, zmm\inverse_cd
    vcvtps2dq zmm\a, zmm\a
    vcvtps2dq zmm\b, zmm\b
    vcvtps2dq zmm\c, zmm\c
    vcvtps2dq zmm\d, zmm\d
    vpackssdw zmm\a, zmm\a, zmm\b
    vpackssdw zmm\c, zmm\c, zmm\d
    vpacksswb zmm\a, zmm\a, zmm\c
    vpermd  zmm\a, zmm31, zmm\a
    vpxord  zmm\sums, zmm\a, zmm30
    vpsadbw zmm\sums, zmm\sums, zmm27
.endm

#endif
