// void rope_f32_pairs_avx2(float *x, const float *cos_sin, size_t d)
//
// rdi x  rsi cos_sin  rdx d, even
// ymm0 x, ymm1 cos and sin, ymm2 and ymm3 scratch, ymm4 mask of the tail, ymm5 sign of the even
// Clobbers rax, rdx, rdi, rsi, ymm0-ymm5.
//
// Four pairs (a, b) a step: (a, a) * (cos, sin), then (-b, b) * (sin, cos) by fma onto it.
// vfmaddsub would give the even lanes as b sin - a cos, whose zero has the other sign. Aims at 3
// cycles for four pairs.
#include "kernels/x86_64/asm.h"

#define vector rdi
#define turns rsi
#define left rdx
#define mask ymm4
#define even_sign ymm5

// ymm0 = the pairs of ymm0 turned by those of ymm1.
.macro turn
    vmovsldup ymm2, ymm0            // a, a
    vmovshdup ymm3, ymm0            // b, b
    vmulps  ymm0, ymm2, ymm1
    vxorps  ymm3, ymm3, even_sign
    vpermilps ymm1, ymm1, 0xb1      // sin, cos
    vfmadd231ps ymm0, ymm3, ymm1
.endm

func rope_f32_pairs_avx2
    mov     eax, 0x80000000
    vmovq   xmm5, rax
    vpbroadcastq even_sign, xmm5
    sub     left, 8
    jb      2f
1:
    vmovups ymm0, [vector]
    vmovups ymm1, [turns]
    turn
    vmovups [vector], ymm0
    add     vector, 32
    add     turns, 32
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      3f
    lane_mask 4, left
    vmaskmovps ymm0, mask, [vector]
    vmaskmovps ymm1, mask, [turns]
    turn
    vmaskmovps [vector], mask, ymm0
3:
endfunc rope_f32_pairs_avx2
