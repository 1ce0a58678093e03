// void rmsnorm_f32_avx512(float *y, const float *x, const float *w, size_t n, float eps,
//                         float offset)
//
// rdi y  rsi x  rdx w  rcx n; all are used up  xmm0 eps  xmm1 offset
// r8 x of the second pass  r9 n of the second pass
// zmm1 offset, zmm2 16 lanes, then scale; zmm3, zmm4 values
// Clobbers rax, rcx, rdx, rdi, rsi, r8, r9, zmm0-zmm4, k1.
//
// Two passes, 16 elements a step; the second reads before it writes, so that y may be x. The zeros
// behind a masked load leave a lane as it is: it is a sum of squares, never -0. Aims at 4 cycles
// for 16 elements in the first pass, the latency of fma, and 4 in the second.
#include "kernels/x86_64/avx512.h"

#define out rdi
#define vector rsi
#define factors rdx
#define left rcx
#define left_32 ecx
#define again r8
#define length r9
#define length_32 r9d

.macro add_squares k, z
    vmovups zmm3\k\z, [again]
    add     again, 64
    vfmadd231ps zmm2, zmm3, zmm3
.endm

.macro scale_sixteen k, z
    vmulps  zmm3\k\z, zmm2, [vector]
    vaddps  zmm4\k\z, zmm1, [factors]
    add     vector, 64
    add     factors, 64
    vmulps  zmm3, zmm3, zmm4
    vmovups [out]\k, zmm3
    add     out, 64
.endm

func rmsnorm_f32_avx512
    vbroadcastss zmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    vxorps  xmm4, xmm4, xmm4
    mov     again, vector
    mov     length, left
    vcvtsi2ss xmm4, xmm4, length
    for_sixteens left, left_32, add_squares
    fold_zmm 2, 3
    vdivss  xmm2, xmm2, xmm4
    vaddss  xmm2, xmm2, xmm0
    mov     eax, 0x3f800000         // 1
    vsqrtss xmm2, xmm2, xmm2
    vmovd   xmm3, eax
    vdivss  xmm2, xmm3, xmm2
    vbroadcastss zmm2, xmm2
    for_sixteens length, length_32, scale_sixteen
endfunc rmsnorm_f32_avx512
