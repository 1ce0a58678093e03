// void rmsnorm_f32_avx2(float *y, const float *x, const float *w, size_t n, float eps,
//                       float offset)
//
// rdi y; rsi x; rdx w; rcx n; all are changed; xmm0 eps; xmm1 offset;
// r8 x of the first pass; r9 n of the second; rax scratch;
// ymm1, ymm2 16 lanes, then scale in ymm1; ymm3, ymm4 values; ymm5, ymm6 w; ymm7 offset; ymm8 n;
// ymm13-ymm15 as in vectors.h.
// Clobbers rax, rcx, rdx, rsi, rdi, r8, r9, ymm0-ymm8, ymm13-ymm15.
//
// Makes two passes, 16 elements per step; the second reads before it writes, so that y may be x.
// The zeros of a masked load do not change a lane, because it is a sum of squares,
// never -0. In the first pass, the latency of fma is the limit: 4 cycles per step.
#include "kernels/x86_64/vector/vectors.h"

#define out rdi
#define vector rsi
#define factors rdx
#define left rcx
#define again r8
#define length r9

.macro add_squares tail
    load_lanes 3, 4, again, \tail
    add     again, 64
    vfmadd231ps ymm1, ymm3, ymm3
    vfmadd231ps ymm2, ymm4, ymm4
.endm

.macro scale_sixteen tail
    apply_lanes vmulps, 3, 4, 1, 1, vector, \tail
    apply_lanes vaddps, 5, 6, 7, 7, factors, \tail
    add     vector, 64
    add     factors, 64
    vmulps  ymm3, ymm3, ymm5
    vmulps  ymm4, ymm4, ymm6
    store_lanes 3, 4, out, \tail
    add     out, 64
.endm

func rmsnorm_f32_avx2
    vbroadcastss ymm7, xmm1
    vxorps  xmm1, xmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    vxorps  xmm8, xmm8, xmm8
    mov     again, vector
    mov     length, left
    vcvtsi2ss xmm8, xmm8, length
    for_lanes left, add_squares
    fold_lanes 1, 2
    inverse_root 1, 8, 0, 2
    vbroadcastss ymm1, xmm1
    for_lanes length, scale_sixteen
endfunc rmsnorm_f32_avx2
