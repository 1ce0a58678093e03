// void rmsnorm_f32_avx512(float *y, const float *x, const float *w, size_t n, float eps,
//                         float offset)
//
// rdi y; rsi x; rdx w; rcx n; all are changed; xmm0 eps; xmm1 offset;
// r8 x of the first pass; r9 n of the second; rax scratch;
// zmm1 offset; zmm2 16 lanes, then scale; zmm3 values; zmm4 n, then w.
// Clobbers rax, rcx, rdx, rdi, rsi, r8, r9, zmm0-zmm4, k1.
//
// Makes two passes, like rmsnorm_f32_avx2.S.
#include "kernels/x86_64/vector/vectors.h"

#define out rdi
#define vector rsi
#define factors rdx
#define left rcx
#define left_32 ecx
#define again r8
#define length r9
#define length_32 r9d

.macro add_squares v, tail
    load    zmm, 3, again, \tail
    add     again, 64
    vfmadd231ps zmm2, zmm3, zmm3
.endm

.macro scale_sixteen v, tail
    apply   vmulps, zmm, 3, 2, vector, \tail
    apply   vaddps, zmm, 4, 1, factors, \tail
    advance zmm, vector, factors
    vmulps  zmm3, zmm3, zmm4
    store   zmm, 3, out, \tail
    add     out, 64
.endm

func rmsnorm_f32_avx512
    vbroadcastss zmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    vxorps  xmm4, xmm4, xmm4
    mov     again, vector
    mov     length, left
    vcvtsi2ss xmm4, xmm4, length
    for_vectors zmm, left, left_32, add_squares
    fold_zmm 2, 3
    inverse_root 2, 4, 0, 3
    vbroadcastss zmm2, xmm2
    for_vectors zmm, length, length_32, scale_sixteen
endfunc rmsnorm_f32_avx512
