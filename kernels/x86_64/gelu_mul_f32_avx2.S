// void gelu_mul_f32_avx2(float *y, const float *gate, const float *up, size_t n)
//
// rdi y  rsi gate  rdx up  rcx n; all are used up
// ymm0 value, ymm1-ymm3 and ymm5-ymm7 scratch, ymm4 gate, ymm8 up, ymm9 mask of the tail
// Clobbers rax, rcx, rdx, rdi, rsi, ymm0-ymm9.
//
// Eight elements a step, read before y is written, so that y may be gate or up; steps do not
// depend on each other and overlap in the core. 54 instructions for gelu and 9 others: aims at 28
// cycles for eight elements.
#include "kernels/x86_64/gelu.h"

#define out rdi
#define gates rsi
#define ups rdx
#define left rcx
#define gate_value ymm4
#define up_value ymm8
#define mask ymm9

func gelu_mul_f32_avx2
    sub     left, 8
    jb      2f
1:
    vmovups gate_value, [gates]
    vmovups up_value, [ups]
    gelu_eight
    vmulps  ymm0, ymm0, up_value
    vmovups [out], ymm0
    add     gates, 32
    add     ups, 32
    add     out, 32
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      3f
    lane_mask 9, left
    vmaskmovps gate_value, mask, [gates]
    vmaskmovps up_value, mask, [ups]
    gelu_eight
    vmulps  ymm0, ymm0, up_value
    vmaskmovps [out], mask, ymm0
3:
endfunc gelu_mul_f32_avx2
