// void layernorm_f32_avx2(float *y, const float *x, const float *w, const float *b, size_t n,
//                         float eps)
//
// rdi y  rsi x  rdx w  rcx b  r8 n  xmm0 eps
// r9 elements in whole sixteens, r10 index, r11 elements of the tail, rax scratch
// ymm1, ymm2 16 lanes, then scale in ymm1; ymm3, ymm4 values; ymm5, ymm6 masks of the tail; ymm7
// mean; ymm8 n as f32; ymm9, ymm10 scratch
// Clobbers rax, r9-r11, ymm0-ymm10.
//
// Three passes, 16 elements a step; the last reads before it writes, so that y may be x. A lane
// beyond the tail adds +0, which leaves it as it is: no lane is ever -0. Aims at 4 cycles for 16
// elements in the first two passes, the latency of a sum, and 4 in the third.
#include "kernels/x86_64/asm.h"

#define out rdi
#define vector rsi
#define factors rdx
#define offsets rcx
#define length r8
#define n_whole r9
#define index r10
#define tail r11
#define mask_low ymm5
#define mask_high ymm6
#define mean ymm7

// ymm3, ymm4 = (x - mean) * scale.
.macro centre_sixteen
    vsubps  ymm3, ymm3, mean
    vsubps  ymm4, ymm4, mean
    vmulps  ymm3, ymm3, ymm1
    vmulps  ymm4, ymm4, ymm1
.endm

// xmm1 = the sum of the lanes / n. Destroys ymm2.
.macro divide_sum
    fold_lanes 1, 2
    vdivss  xmm1, xmm1, xmm8
.endm

func layernorm_f32_avx2
    vxorps  xmm8, xmm8, xmm8
    vcvtsi2ss xmm8, xmm8, length
    vxorps  xmm1, xmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    mov     n_whole, length
    mov     tail, length
    and     n_whole, -16
    and     tail, 15
    mov     index, tail
    lane_masks 5, 6, index
    xor     r10d, r10d
    test    n_whole, n_whole
    jz      2f
1:
    vaddps  ymm1, ymm1, [vector + 4*index]
    vaddps  ymm2, ymm2, [vector + 4*index + 32]
    add     index, 16
    cmp     index, n_whole
    jb      1b
2:
    vmaskmovps ymm3, mask_low, [vector + 4*index]
    vmaskmovps ymm4, mask_high, [vector + 4*index + 32]
    vaddps  ymm1, ymm1, ymm3
    vaddps  ymm2, ymm2, ymm4
    divide_sum
    vbroadcastss mean, xmm1

    vxorps  xmm1, xmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    xor     r10d, r10d
    test    n_whole, n_whole
    jz      4f
3:
    vmovups ymm3, [vector + 4*index]
    vmovups ymm4, [vector + 4*index + 32]
    vsubps  ymm3, ymm3, mean
    vsubps  ymm4, ymm4, mean
    add     index, 16
    vfmadd231ps ymm1, ymm3, ymm3
    vfmadd231ps ymm2, ymm4, ymm4
    cmp     index, n_whole
    jb      3b
4:
    vmaskmovps ymm3, mask_low, [vector + 4*index]
    vmaskmovps ymm4, mask_high, [vector + 4*index + 32]
    vsubps  ymm3, ymm3, mean
    vsubps  ymm4, ymm4, mean
    vandps  ymm3, ymm3, mask_low
    vandps  ymm4, ymm4, mask_high
    vfmadd231ps ymm1, ymm3, ymm3
    vfmadd231ps ymm2, ymm4, ymm4
    divide_sum
    vaddss  xmm1, xmm1, xmm0
    mov     eax, 0x3f800000         // 1
    vsqrtss xmm1, xmm1, xmm1
    vmovd   xmm2, eax
    vdivss  xmm1, xmm2, xmm1
    vbroadcastss ymm1, xmm1

    xor     r10d, r10d
    test    n_whole, n_whole
    jz      6f
5:
    vmovups ymm3, [vector + 4*index]
    vmovups ymm4, [vector + 4*index + 32]
    centre_sixteen
    vmovups ymm9, [factors + 4*index]
    vmovups ymm10, [factors + 4*index + 32]
    vfmadd213ps ymm3, ymm9, [offsets + 4*index]
    vfmadd213ps ymm4, ymm10, [offsets + 4*index + 32]
    vmovups [out + 4*index], ymm3
    vmovups [out + 4*index + 32], ymm4
    add     index, 16
    cmp     index, n_whole
    jb      5b
6:
    test    tail, tail
    jz      7f
    vmaskmovps ymm3, mask_low, [vector + 4*index]
    vmaskmovps ymm4, mask_high, [vector + 4*index + 32]
    centre_sixteen
    vmaskmovps ymm9, mask_low, [factors + 4*index]
    vmaskmovps ymm10, mask_high, [factors + 4*index + 32]
    vmaskmovps ymm0, mask_low, [offsets + 4*index]
    vmaskmovps ymm2, mask_high, [offsets + 4*index + 32]
    vfmadd213ps ymm3, ymm9, ymm0
    vfmadd213ps ymm4, ymm10, ymm2
    vmaskmovps [out + 4*index], mask_low, ymm3
    vmaskmovps [out + 4*index + 32], mask_high, ymm4
7:
endfunc layernorm_f32_avx2
