// void rmsnorm_f32_avx2(float *y, const float *x, const float *w, size_t n, float eps,
//                       float offset)
//
// rdi y  rsi x  rdx w  rcx n  xmm0 eps  xmm1 offset
// r8 elements in whole sixteens, r9 index, r10 elements of the tail, rax scratch
// ymm1, ymm2 16 lanes, then scale; ymm3, ymm4 values; ymm5, ymm6 masks of the tail; ymm7 offset;
// ymm8, ymm9 w
// Clobbers rax, r8-r11, ymm0-ymm9.
//
// Two passes, 16 elements a step; the second reads before it writes, so that y may be x. The
// zeros behind a masked load leave a lane as it is: it is a sum of squares, never -0. Aims at 4
// cycles for 16 elements in the first pass, the latency of fma, and 3 in the second.
#include "kernels/x86_64/asm.h"

#define out rdi
#define vector rsi
#define factors rdx
#define length rcx
#define n_whole r8
#define index r9
#define tail r10
#define mask_low ymm5
#define mask_high ymm6

func rmsnorm_f32_avx2
    vbroadcastss ymm7, xmm1
    vxorps  xmm1, xmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    mov     n_whole, length
    mov     tail, length
    and     n_whole, -16
    and     tail, 15
    xor     r9d, r9d
    mov     r11, tail
    lane_masks 5, 6, r11
    test    n_whole, n_whole
    jz      2f
1:
    vmovups ymm3, [vector + 4*index]
    vmovups ymm4, [vector + 4*index + 32]
    add     index, 16
    vfmadd231ps ymm1, ymm3, ymm3
    vfmadd231ps ymm2, ymm4, ymm4
    cmp     index, n_whole
    jb      1b
2:
    vmaskmovps ymm3, mask_low, [vector + 4*index]
    vmaskmovps ymm4, mask_high, [vector + 4*index + 32]
    vfmadd231ps ymm1, ymm3, ymm3
    vfmadd231ps ymm2, ymm4, ymm4
    fold_lanes 1, 2
    vxorps  xmm2, xmm2, xmm2
    vcvtsi2ss xmm2, xmm2, length
    vdivss  xmm1, xmm1, xmm2
    vaddss  xmm1, xmm1, xmm0
    mov     eax, 0x3f800000         // 1
    vsqrtss xmm1, xmm1, xmm1
    vmovd   xmm2, eax
    vdivss  xmm1, xmm2, xmm1
    vbroadcastss ymm1, xmm1
    xor     r9d, r9d
    test    n_whole, n_whole
    jz      4f
3:
    vmulps  ymm3, ymm1, [vector + 4*index]
    vmulps  ymm4, ymm1, [vector + 4*index + 32]
    vaddps  ymm8, ymm7, [factors + 4*index]
    vaddps  ymm9, ymm7, [factors + 4*index + 32]
    vmulps  ymm3, ymm3, ymm8
    vmulps  ymm4, ymm4, ymm9
    vmovups [out + 4*index], ymm3
    vmovups [out + 4*index + 32], ymm4
    add     index, 16
    cmp     index, n_whole
    jb      3b
4:
    test    tail, tail
    jz      5f
    vmaskmovps ymm3, mask_low, [vector + 4*index]
    vmaskmovps ymm4, mask_high, [vector + 4*index + 32]
    vmulps  ymm3, ymm3, ymm1
    vmulps  ymm4, ymm4, ymm1
    vmaskmovps ymm8, mask_low, [factors + 4*index]
    vmaskmovps ymm9, mask_high, [factors + 4*index + 32]
    vaddps  ymm8, ymm8, ymm7
    vaddps  ymm9, ymm9, ymm7
    vmulps  ymm3, ymm3, ymm8
    vmulps  ymm4, ymm4, ymm9
    vmaskmovps [out + 4*index], mask_low, ymm3
    vmaskmovps [out + 4*index + 32], mask_high, ymm4
5:
endfunc rmsnorm_f32_avx2
