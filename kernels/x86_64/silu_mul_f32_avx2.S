// void silu_mul_f32_avx2(float *y, const float *gate, const float *up, size_t n)
//
// rdi y  rsi gate  rdx up  rcx n; all are used up
// ymm0 value, ymm1-ymm3 scratch, ymm4 gate, ymm5 up, ymm6 mask of the tail
// Clobbers rax, rcx, rdx, rdi, rsi, ymm0-ymm6.
//
// Eight elements a step, read before y is written, so that y may be gate or up; steps do not
// depend on each other and overlap in the core. 28 instructions for e^-gate, one division and 9
// others: aims at 14 cycles for eight elements.
#include "kernels/x86_64/asm.h"
#include "kernels/x86_64/exp.h"

#define out rdi
#define gates rsi
#define ups rdx
#define left rcx
#define gate_value ymm4
#define up_value ymm5
#define mask ymm6

// ymm0 = gate / (1 + e^-gate) * up
.macro silu_mul
    vxorps  ymm0, gate_value, exp_sign
    exp_eight 0, 1, 2, 3
    vaddps  ymm0, ymm0, exp_one
    vdivps  ymm0, gate_value, ymm0
    vmulps  ymm0, ymm0, up_value
.endm

func silu_mul_f32_avx2
    sub     left, 8
    jb      2f
1:
    vmovups gate_value, [gates]
    vmovups up_value, [ups]
    silu_mul
    vmovups [out], ymm0
    add     gates, 32
    add     ups, 32
    add     out, 32
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      3f
    lane_mask 6, left
    vmaskmovps gate_value, mask, [gates]
    vmaskmovps up_value, mask, [ups]
    silu_mul
    vmaskmovps [out], mask, ymm0
3:
endfunc silu_mul_f32_avx2
