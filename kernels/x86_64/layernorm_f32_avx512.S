// void layernorm_f32_avx512(float *y, const float *x, const float *w, const float *b, size_t n,
//                           float eps)
//
// rdi y  rsi x  rdx w  rcx b  r8 n; all are used up  xmm0 eps
// r9 x of the first two passes  r10 n left of a pass
// zmm1 mean, zmm2 16 lanes, then scale; zmm3, zmm4 values; zmm5 n as f32
// Clobbers rax, rcx, rdx, rdi, rsi, r8-r10, zmm0-zmm5, k1.
//
// Three passes, 16 elements a step; the last reads before it writes, so that y may be x. A lane
// beyond the tail adds +0, which leaves it as it is: no lane is ever -0. Aims at 4 cycles for 16
// elements in the first two passes, the latency of a sum, and 5 in the third.
#include "kernels/x86_64/avx512.h"

#define out rdi
#define vector rsi
#define factors rdx
#define offsets rcx
#define length r8
#define length_32 r8d
#define again r9
#define left r10
#define left_32 r10d

.macro add_values k, z
    vaddps  zmm2\k, zmm2, [again]
    add     again, 64
.endm

.macro add_squares k, z
    vmovups zmm3\k\z, [again]
    add     again, 64
    vsubps  zmm3\k\z, zmm3, zmm1
    vfmadd231ps zmm2, zmm3, zmm3
.endm

.macro scale_sixteen k, z
    vmovups zmm3\k\z, [vector]
    vmovups zmm4\k\z, [factors]
    add     vector, 64
    add     factors, 64
    vsubps  zmm3, zmm3, zmm1
    vmulps  zmm3, zmm3, zmm2
    vfmadd213ps zmm3\k\z, zmm4, [offsets]
    add     offsets, 64
    vmovups [out]\k, zmm3
    add     out, 64
.endm

// xmm2 = the sum of its lanes / n.
.macro divide_sum
    fold_zmm 2, 3
    vdivss  xmm2, xmm2, xmm5
.endm

func layernorm_f32_avx512
    vxorps  xmm2, xmm2, xmm2
    vxorps  xmm5, xmm5, xmm5
    vcvtsi2ss xmm5, xmm5, length
    mov     again, vector
    mov     left, length
    for_sixteens left, left_32, add_values
    divide_sum
    vbroadcastss zmm1, xmm2
    vxorps  xmm2, xmm2, xmm2
    mov     again, vector
    mov     left, length
    for_sixteens left, left_32, add_squares
    divide_sum
    vaddss  xmm2, xmm2, xmm0
    mov     eax, 0x3f800000         // 1
    vsqrtss xmm2, xmm2, xmm2
    vmovd   xmm3, eax
    vdivss  xmm2, xmm3, xmm2
    vbroadcastss zmm2, xmm2
    for_sixteens length, length_32, scale_sixteen
endfunc layernorm_f32_avx512
