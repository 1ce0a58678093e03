// void l2norm_f32_avx512(float *y, const float *x, size_t n, float eps)
//
// rdi y; rsi x; rdx n; all are changed; xmm0 eps;
// rcx x of the first pass; r8 n of the second; rax scratch;
// zmm1 16 lanes; zmm3 values; zmm8 scale.
// Clobbers rax, rcx, rdx, rsi, rdi, r8, zmm0-zmm3, zmm8, k1.
//
// There are two passes, as in rmsnorm_f32_avx2.S.
#include "kernels/x86_64/vector/elementwise.h"

#define again rcx
#define length r8
#define length_32 r8d

.macro add_squares v, tail
    load    zmm, 3, again, \tail
    add     again, 64
    vfmadd231ps zmm1, zmm3, zmm3
.endm

func l2norm_f32_avx512
    vxorps  xmm1, xmm1, xmm1
    mov     again, vector
    mov     length, left
    for_vectors zmm, left, left_32, add_squares
    fold_zmm 1, 3
    vaddss  xmm1, xmm1, xmm0
    vsqrtss xmm1, xmm1, xmm1
    mov     eax, 0x3f800000         // 1
    vmovd   xmm2, eax
    vdivss  xmm1, xmm2, xmm1
    vbroadcastss zmm8, xmm1
    for_vectors zmm, length, length_32, scale_step
endfunc l2norm_f32_avx512
