// void layernorm_f32_avx512(float *y, const float *x, const float *w, const float *b, size_t n,
//                           float eps)
//
// rdi y; rsi x; rdx w; rcx b; r8 n; all are changed; xmm0 eps;
// r9 x of the first two passes; r10 n left of a pass; rax scratch;
// zmm1 mean; zmm2 16 lanes, then scale; zmm3 values; zmm4 w; zmm5 n; k1 mask of the tail.
// Clobbers rax, rcx, rdx, rsi, rdi, r8-r10, zmm0-zmm5, k1.
//
// Makes three passes, like layernorm_f32_avx2.S.
#include "kernels/x86_64/vector/vectors.h"

#define out rdi
#define vector rsi
#define factors rdx
#define offsets rcx
#define length r8
#define length_32 r8d
#define again r9
#define left r10
#define left_32 r10d
#define mean zmm1

.macro add_values v, tail
    .ifb \tail
    vaddps  zmm2, zmm2, [again]
    .else
    vaddps  zmm2{k1}, zmm2, [again]
    .endif
    add     again, 64
.endm

.macro add_squares v, tail
    load    zmm, 3, again, \tail
    add     again, 64
    .ifb \tail
    vsubps  zmm3, zmm3, mean
    .else
    vsubps  zmm3{k1}{z}, zmm3, mean
    .endif
    vfmadd231ps zmm2, zmm3, zmm3
.endm

.macro scale_sixteen v, tail
    load    zmm, 3, vector, \tail
    load    zmm, 4, factors, \tail
    vsubps  zmm3, zmm3, mean
    vmulps  zmm3, zmm3, zmm2
    apply   vfmadd213ps, zmm, 3, 4, offsets, \tail
    advance zmm, vector, factors, offsets
    store   zmm, 3, out, \tail
    add     out, 64
.endm

// xmm2 = the sum of the lanes of a pass over x.
.macro sum_of body
    vxorps  xmm2, xmm2, xmm2
    mov     again, vector
    mov     left, length
    for_vectors zmm, left, left_32, \body
    fold_zmm 2, 3
.endm

func layernorm_f32_avx512
    vxorps  xmm5, xmm5, xmm5
    vcvtsi2ss xmm5, xmm5, length
    sum_of  add_values
    vdivss  xmm2, xmm2, xmm5
    vbroadcastss mean, xmm2
    sum_of  add_squares
    inverse_root 2, 5, 0, 3
    vbroadcastss zmm2, xmm2
    for_vectors zmm, length, length_32, scale_sixteen
endfunc layernorm_f32_avx512
