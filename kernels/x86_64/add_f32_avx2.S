// void add_f32_avx2(float *y, const float *x, size_t n)
//
// rdi y  rsi x  rdx n; all are used up
// ymm0 y, ymm1 x, ymm2 mask of the tail
// Clobbers rax, rdx, rdi, rsi, ymm0-ymm2.
//
// Eight elements a step: aims at 1.5 cycles, two loads and a store.
#include "kernels/x86_64/asm.h"

#define out rdi
#define vector rsi
#define left rdx
#define mask ymm2

func add_f32_avx2
    sub     left, 8
    jb      2f
1:
    vmovups ymm0, [out]
    vaddps  ymm0, ymm0, [vector]
    vmovups [out], ymm0
    add     out, 32
    add     vector, 32
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      3f
    lane_mask 2, left
    vmaskmovps ymm0, mask, [out]
    vmaskmovps ymm1, mask, [vector]
    vaddps  ymm0, ymm0, ymm1
    vmaskmovps [out], mask, ymm0
3:
endfunc add_f32_avx2
