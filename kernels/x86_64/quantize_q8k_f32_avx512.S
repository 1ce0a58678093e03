// void quantize_q8k_f32_avx512(struct block_q8k *y, const float *x, size_t n)
//
// rdi y  rsi x  rdx n, then blocks left; all are used up  eax scratch
// zmm0-zmm15 values, zmm16 max, then d, zmm17 127 / max, zmm18 scratch, zmm20-zmm23 sums,
// zmm25 order of sums, zmm26 2 * 1024, zmm27-zmm31 as quantize_avx512.h says, k1
// Clobbers rax, rdx, rdi, rsi, zmm0-zmm31, k1.
//
// A block of 256 a step, all of it in registers; the arithmetic is that of
// quantize_q8_f32_avx2.S. 125 instructions: aims at 100 cycles a block.
#include "kernels/x86_64/quantize_avx512.h"

#define out rdi
#define vector rsi
#define left rdx

#define SUMS 256
#define SCALE 288
#define BYTES 304

    .section .rodata.quantize_q8k_f32_avx512, "a", @progbits
    .p2align 4
sum_places:                         // of 16 sums in words 0 4 1 5 2 6 3 7
    .byte   0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15
    .size   sum_places, . - sum_places

.macro load_values reg
    vmovups zmm\reg, [vector + 64 * \reg]
.endm

// Eight sums of 16 from those of 8 of two vectors.
.macro store_sums at, a, b
    vpunpcklqdq zmm18, zmm\a, zmm\b
    vpunpckhqdq zmm\a, zmm\a, zmm\b
    vpaddd  zmm18, zmm18, zmm\a
    vpsubd  zmm18, zmm18, zmm26
    vpmovqw xmm18, zmm18
    vpshufb xmm18, xmm18, xmm25
    vmovdqu32 [out + SUMS + \at], xmm18
.endm

func quantize_q8k_f32_avx512
    prepare_quantize
    mov     eax, 2 * 1024
    vpbroadcastd zmm26, eax
    vmovdqu32 xmm25, [rip + sum_places]
    shr     left, 8
    jz      2f
1:
    .irp    reg, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    load_values \reg
    .endr
    .irp    pair, 0, 1, 2, 3
    take_magnitude %(16 + \pair), %(4 * \pair), %(4 * \pair + 1)
    take_magnitude %(20 + \pair), %(4 * \pair + 2), %(4 * \pair + 3)
    .endr
    .irp    pair, 0, 1, 2, 3
    take_magnitude %(16 + \pair), %(16 + \pair), %(20 + \pair)
    .endr
    take_magnitude 16, 16, 17
    take_magnitude 18, 18, 19
    take_magnitude 16, 16, 18
    vextractf64x4 ymm17, zmm16, 1
    vmaxps  ymm16, ymm16, ymm17
    vextractf32x4 xmm17, ymm16, 1
    vmaxps  xmm16, xmm16, xmm17
    vpermilps xmm17, xmm16, 0x4e
    vmaxps  xmm16, xmm16, xmm17
    vpermilps xmm17, xmm16, 0xb1
    vmaxps  xmm16, xmm16, xmm17     // max in every word
    find_scales xmm, 16, 17
    vbroadcastss zmm17, xmm17
    vinsertps xmm16, xmm16, xmm16, 0x0e // zeros behind it
    vmovups [out + SCALE], xmm16
    quantize_four 0, 1, 2, 3, 17, 17, 20
    quantize_four 4, 5, 6, 7, 17, 17, 21
    quantize_four 8, 9, 10, 11, 17, 17, 22
    quantize_four 12, 13, 14, 15, 17, 17, 23
    vmovdqu32 [out], zmm0
    vmovdqu32 [out + 64], zmm4
    vmovdqu32 [out + 128], zmm8
    vmovdqu32 [out + 192], zmm12
    store_sums 0, 20, 21
    store_sums 16, 22, 23
    add     vector, 1024
    add     out, BYTES
    dec     left
    jnz     1b
2:
endfunc quantize_q8k_f32_avx512
