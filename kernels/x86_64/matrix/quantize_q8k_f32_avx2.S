// void quantize_q8k_f32_avx2(struct block_q8k *y, const float *x, size_t n)
//
// rdi y; rsi x; rdx n, then blocks left; all are changed;
// ymm0-ymm3 32 values, ymm4-ymm7 magnitudes, then ymm4 max, ymm5 127 / max, ymm6 and ymm7 sums of
// 8; ymm8-ymm10 and ymm4 sums of 16; ymm11 least max, ymm12 order of words after packing, ymm13
// magnitude bits, ymm14 127, ymm15 top bits of bytes.
// Clobbers rax, rdx, rdi, rsi, ymm0-ymm15.
//
// A block of 256 takes two passes. vpsadbw sums the bytes after they are made
// unsigned, which adds 16 * 128 to each sum. 2048 elements take 198 ns on Zen
// 4.
#include "kernels/x86_64/matrix/quantize.h"

#define flip ymm15
#define BIAS 0x08000800             /* 16 * 128 in both halves */

.macro take_max acc, at
    vandps  ymm0, magnitude, [vector + \at]
    vmaxps  ymm\acc, ymm\acc, ymm0
.endm

.macro round_eight reg, at
    vmulps  ymm\reg, ymm5, [vector + \at]
    vcvtps2dq ymm\reg, ymm\reg
.endm

// Convert 32 values to bytes; ymm sums = sums of 8 bytes each.
.macro quantize_part part, sums
    round_eight 0, (128 * \part)
    round_eight 1, (128 * \part + 32)
    round_eight 2, (128 * \part + 64)
    round_eight 3, (128 * \part + 96)
    pack_bytes
    vpxor   xmm1, xmm1, xmm1
    vmovdqu [out + 32 * \part], ymm0
    vpxor   ymm0, ymm0, flip
    vpsadbw ymm\sums, ymm0, ymm1
.endm

// Quantize 64 values, from part `part` of 32 values on. ymm sums = the sums of every 16 of them,
// as quadwords in the order 0, 2, 1, 3.
.macro quantize_two part, sums
    quantize_part %(\part), 6
    quantize_part %(\part + 1), 7
    vpunpcklqdq ymm\sums, ymm6, ymm7
    vpunpckhqdq ymm6, ymm6, ymm7
    vpaddd  ymm\sums, ymm\sums, ymm6
.endm

func quantize_q8k_f32_avx2
    shr     left, 8
    jz      2f
    prepare_avx2
    broadcast_word 15, 0x80808080
1:
    vandps  ymm4, magnitude, [vector]
    vandps  ymm5, magnitude, [vector + 32]
    vandps  ymm6, magnitude, [vector + 64]
    vandps  ymm7, magnitude, [vector + 96]
    .irp    part, 1, 2, 3, 4, 5, 6, 7
    take_max 4, (128 * \part)
    take_max 5, (128 * \part + 32)
    take_max 6, (128 * \part + 64)
    take_max 7, (128 * \part + 96)
    .endr
    vmaxps  ymm4, ymm4, ymm5
    vmaxps  ymm6, ymm6, ymm7
    vmaxps  ymm4, ymm4, ymm6
    find_scales_avx2
    vinsertps xmm4, xmm4, xmm4, 0x0e // zeros above the scale
    vmovups [out + Q8K_SCALE], xmm4

    quantize_two 0, 8
    quantize_two 2, 9
    quantize_two 4, 10
    quantize_two 6, 4
    vshufps ymm8, ymm8, ymm9, 0x88  // low words of the quadwords
    vshufps ymm10, ymm10, ymm4, 0x88
    broadcast_word 9, BIAS
    vpackusdw ymm8, ymm8, ymm10     // even sums, then odd ones
    vpsubw  ymm8, ymm8, ymm9
    vextracti128 xmm9, ymm8, 1
    vpunpcklwd xmm10, xmm8, xmm9
    vpunpckhwd xmm8, xmm8, xmm9
    vmovdqu [out + Q8K_SUM], xmm10
    vmovdqu [out + Q8K_SUM + 16], xmm8
    add     vector, 1024
    add     out, Q8K_BYTES
    dec     left
    jnz     1b
2:
endfunc quantize_q8k_f32_avx2
