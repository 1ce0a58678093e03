// void quantize_q8_f32_avx2(struct block_q8 *y, const float *x, size_t n)
//
// rdi y  rsi x  rdx n; all are used up
// ymm0-ymm3 32 values, ymm4 and ymm5 magnitudes, then max, d and 127 / max; ymm11 the least
// max, ymm12 order of words after packing, ymm13 magnitude bits, ymm14 127
// Clobbers rax, rdx, rdi, rsi, ymm0-ymm6, ymm11-ymm14.
//
// A block of 32 a step. vcvtps2dq rounds as MXCSR says, to nearest even, which is what adding
// and taking off 1.5 * 2^23 does in the reference. Where max is below 2^-100 the compare clears
// max and 127 / max both, so that every q is 0. Aims at 20 cycles a block; the two divisions of a
// block overlap with the next one.
#include "kernels/x86_64/asm.h"

#define out rdi
#define vector rsi
#define left rdx
#define least ymm11
#define word_order ymm12
#define magnitude ymm13

func quantize_q8_f32_avx2
    shr     left, 5
    jz      2f
    broadcast_word 11, 0x0d800000   // 2^-100
    broadcast_word 13, 0x7fffffff
    broadcast_word 14, 0x42fe0000   // 127
    movabs  rax, 0x0703060205010400
    vmovq   xmm12, rax
    vpmovzxbd word_order, xmm12
1:
    vmovups ymm0, [vector]
    vmovups ymm1, [vector + 32]
    vmovups ymm2, [vector + 64]
    vmovups ymm3, [vector + 96]
    vandps  ymm4, ymm0, magnitude
    vandps  ymm5, ymm1, magnitude
    vandps  ymm6, ymm2, magnitude
    vmaxps  ymm4, ymm4, ymm5
    vandps  ymm5, ymm3, magnitude
    vmaxps  ymm5, ymm5, ymm6
    vmaxps  ymm4, ymm4, ymm5
    vextractf128 xmm5, ymm4, 1
    vmaxps  xmm4, xmm4, xmm5
    vpermilps xmm5, xmm4, 0x4e
    vmaxps  xmm4, xmm4, xmm5
    vpermilps xmm5, xmm4, 0xb1
    vmaxps  xmm4, xmm4, xmm5        // max in every word

    vcmpps  xmm6, xmm4, xmm11, 0x1d // not less, quietly
    vdivps  xmm5, xmm14, xmm4
    vandps  xmm4, xmm4, xmm6
    vandps  xmm5, xmm5, xmm6
    vdivss  xmm4, xmm4, xmm14
    vbroadcastss ymm5, xmm5
    vmovss  dword ptr [out + 32], xmm4

    vmulps  ymm0, ymm0, ymm5
    vmulps  ymm1, ymm1, ymm5
    vmulps  ymm2, ymm2, ymm5
    vmulps  ymm3, ymm3, ymm5
    vcvtps2dq ymm0, ymm0
    vcvtps2dq ymm1, ymm1
    vcvtps2dq ymm2, ymm2
    vcvtps2dq ymm3, ymm3
    vpaddd  ymm4, ymm0, ymm1
    vpaddd  ymm5, ymm2, ymm3
    vpackssdw ymm0, ymm0, ymm1
    vpackssdw ymm2, ymm2, ymm3
    vpacksswb ymm0, ymm0, ymm2      // words 0 2 4 6 1 3 5 7 of four columns
    vpermd  ymm0, word_order, ymm0
    vmovdqu [out], ymm0

    vpaddd  ymm4, ymm4, ymm5
    vextracti128 xmm5, ymm4, 1
    vpaddd  xmm4, xmm4, xmm5
    vpshufd xmm5, xmm4, 0x4e
    vpaddd  xmm4, xmm4, xmm5
    vpshufd xmm5, xmm4, 0xb1
    vpaddd  xmm4, xmm4, xmm5
    vmovd   dword ptr [out + 36], xmm4
    add     vector, 128
    add     out, 40
    dec     left
    jnz     1b
2:
endfunc quantize_q8_f32_avx2
