// void l2norm_f32_avx2(float *y, const float *x, size_t n, float eps)
//
// rdi y; rsi x; rdx n; all are changed; xmm0 eps;
// rcx x of the first pass; r8 n of the second; rax scratch;
// ymm1, ymm2 16 lanes; ymm3, ymm4 values; ymm8 scale; ymm13-ymm15 as in vectors.h.
// Clobbers rax, rcx, rdx, rsi, rdi, r8, ymm0-ymm4, ymm8, ymm13-ymm15.
//
// There are two passes, as in rmsnorm_f32_avx2.S.
#include "kernels/x86_64/vector/elementwise.h"

#define again rcx
#define length r8
#define length_32 r8d

.macro add_squares tail
    load_lanes 3, 4, again, \tail
    add     again, 64
    vfmadd231ps ymm1, ymm3, ymm3
    vfmadd231ps ymm2, ymm4, ymm4
.endm

func l2norm_f32_avx2
    vxorps  xmm1, xmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    mov     again, vector
    mov     length, left
    for_lanes left, add_squares
    fold_lanes 1, 2
    vaddss  xmm1, xmm1, xmm0
    vsqrtss xmm1, xmm1, xmm1
    mov     eax, 0x3f800000         // 1
    vmovd   xmm2, eax
    vdivss  xmm1, xmm2, xmm1
    vbroadcastss ymm8, xmm1
    for_vectors ymm, length, length_32, scale_step
endfunc l2norm_f32_avx2
