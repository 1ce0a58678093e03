// void scale_f32_avx512(float *y, const float *x, size_t n, float factor)
//
// rdi y  rsi x  rdx n; all are used up  xmm0 factor  zmm1 values
// Clobbers rax, rdx, rdi, rsi, zmm0, zmm1, k1.
//
// 16 elements a step, read before they are written, so that y may be x: aims at 2 cycles.
#include "kernels/x86_64/avx512.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx

.macro scale_sixteen k, z
    vmulps  zmm1\k\z, zmm0, [vector]
    add     vector, 64
    vmovups [out]\k, zmm1
    add     out, 64
.endm

func scale_f32_avx512
    vbroadcastss zmm0, xmm0
    for_sixteens left, left_32, scale_sixteen
endfunc scale_f32_avx512
