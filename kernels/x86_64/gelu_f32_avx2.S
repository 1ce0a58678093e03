// void gelu_f32_avx2(float *y, const float *x, size_t n)
//
// rdi y  rsi x  rdx n; all are used up
// ymm0 value, ymm1-ymm3 and ymm5-ymm7 scratch, ymm4 x, ymm9 mask of the tail
// Clobbers rax, rdx, rdi, rsi, ymm0-ymm7, ymm9.
//
// Eight elements a step, read before y is written, so that y may be x; steps do not depend on each
// other and overlap in the core. 54 instructions for gelu and 6 others: aims at 28 cycles for
// eight elements.
#include "kernels/x86_64/gelu.h"

#define out rdi
#define vector rsi
#define left rdx
#define mask ymm9

func gelu_f32_avx2
    sub     left, 8
    jb      2f
1:
    vmovups ymm4, [vector]
    gelu_eight
    vmovups [out], ymm0
    add     vector, 32
    add     out, 32
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      3f
    lane_mask 9, left
    vmaskmovps ymm4, mask, [vector]
    gelu_eight
    vmaskmovps [out], mask, ymm0
3:
endfunc gelu_f32_avx2
