// void layernorm_f32_avx2(float *y, const float *x, const float *w, const float *b, size_t n,
//                         float eps)
//
// rdi y; rsi x; rdx w; rcx b; r8 n; all are changed; xmm0 eps;
// r9 x of the first two passes; r10 n left of a pass; rax scratch;
// ymm1, ymm2 16 lanes, then scale in ymm1; ymm3, ymm4 values; ymm5, ymm6 w; ymm7 mean; ymm8 n;
// ymm13-ymm15 as in vectors.h.
// Clobbers rax, rcx, rdx, rsi, rdi, r8-r10, ymm0-ymm8, ymm13-ymm15.
//
// Makes three passes, 16 elements per step; the last reads before it writes, so that y may be
// x. +0 is added to lanes beyond the tail, which does not change them, because no lane is ever -0.
// The latency of a sum or fma limits the first two passes: 3 or 4 cycles per step.
#include "kernels/x86_64/vector/vectors.h"

#define out rdi
#define vector rsi
#define factors rdx
#define offsets rcx
#define length r8
#define again r9
#define left r10
#define mean ymm7

.macro add_values tail
    apply_lanes vaddps, 1, 2, 1, 2, again, \tail
    add     again, 64
.endm

.macro add_squares tail
    load_lanes 3, 4, again, \tail
    add     again, 64
    vsubps  ymm3, ymm3, mean
    vsubps  ymm4, ymm4, mean
    .ifnb \tail
    vandps  ymm3, ymm3, ymm14
    vandps  ymm4, ymm4, ymm15
    .endif
    vfmadd231ps ymm1, ymm3, ymm3
    vfmadd231ps ymm2, ymm4, ymm4
.endm

.macro scale_sixteen tail
    load_lanes 3, 4, vector, \tail
    load_lanes 5, 6, factors, \tail
    vsubps  ymm3, ymm3, mean
    vsubps  ymm4, ymm4, mean
    vmulps  ymm3, ymm3, ymm1
    vmulps  ymm4, ymm4, ymm1
    apply_lanes vfmadd213ps, 3, 4, 5, 6, offsets, \tail
    add     vector, 64
    add     factors, 64
    add     offsets, 64
    store_lanes 3, 4, out, \tail
    add     out, 64
.endm

// xmm1 = the sum of the lanes of a pass over x.
.macro sum_of body
    vxorps  xmm1, xmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    mov     again, vector
    mov     left, length
    for_lanes left, \body
    fold_lanes 1, 2
.endm

func layernorm_f32_avx2
    vxorps  xmm8, xmm8, xmm8
    vcvtsi2ss xmm8, xmm8, length
    sum_of  add_values
    vdivss  xmm1, xmm1, xmm8
    vbroadcastss mean, xmm1
    sum_of  add_squares
    inverse_root 1, 8, 0, 2
    vbroadcastss ymm1, xmm1
    for_lanes length, scale_sixteen
endfunc layernorm_f32_avx2
