// void scale_f32_avx2(float *y, const float *x, size_t n, float factor)
//
// rdi y  rsi x  rdx n; all are used up  xmm0 factor
// ymm0 factor, ymm1 values, ymm2 mask of the tail
// Clobbers rax, rdx, rdi, rsi, ymm0-ymm2.
//
// Eight elements a step, read before they are written, so that y may be x: aims at 1 cycle.
#include "kernels/x86_64/asm.h"

#define out rdi
#define vector rsi
#define left rdx
#define factor ymm0
#define mask ymm2

func scale_f32_avx2
    vbroadcastss factor, xmm0
    sub     left, 8
    jb      2f
1:
    vmulps  ymm1, factor, [vector]
    vmovups [out], ymm1
    add     vector, 32
    add     out, 32
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      3f
    lane_mask 2, left
    vmaskmovps ymm1, mask, [vector]
    vmulps  ymm1, ymm1, factor
    vmaskmovps [out], mask, ymm1
3:
endfunc scale_f32_avx2
