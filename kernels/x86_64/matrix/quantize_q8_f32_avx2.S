// void quantize_q8_f32_avx2(struct block_q8 *y, const float *x, size_t n)
//
// rdi y; rsi x; rdx n; all are changed;
// ymm0-ymm3 32 values, ymm4 and ymm5 magnitudes, then max, d and 127 / max; ymm11 the least
// max, ymm12 order of words after packing, ymm13 magnitude bits, ymm14 127.
// Clobbers rax, rdx, rdi, rsi, ymm0-ymm6, ymm11-ymm14.
//
// A step takes one block of 32; its two divisions overlap with the next block. 576 elements take
// 107 ns on Zen 4.
#include "kernels/x86_64/matrix/quantize.h"

func quantize_q8_f32_avx2
    shr     left, 5
    jz      2f
    prepare_avx2
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
    find_scales_avx2
    vmovss  dword ptr [out + Q8_SCALE], xmm4

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
    pack_bytes
    vmovdqu [out], ymm0

    vpaddd  ymm4, ymm4, ymm5
    vextracti128 xmm5, ymm4, 1
    vpaddd  xmm4, xmm4, xmm5
    vpshufd xmm5, xmm4, 0x4e
    vpaddd  xmm4, xmm4, xmm5
    vpshufd xmm5, xmm4, 0xb1
    vpaddd  xmm4, xmm4, xmm5
    vmovd   dword ptr [out + Q8_SUM], xmm4
    add     vector, 128
    add     out, Q8_BYTES
    dec     left
    jnz     1b
2:
endfunc quantize_q8_f32_avx2
