// void relu2_mul_f32_neon(float *y, const float *gate, const float *up, size_t n)
//
// x0 y; x1 gate; x2 up; x3 n.
// Clobbers x0-x3, v0-v7, v16.
//
// A step takes two groups of sixteen elements and reads a group before it writes
// y, so that y may be gate or up. fmax keeps NaNs.
#include "kernels/arm64/vector/elementwise_neon.h"

#define out x0
#define gate x1
#define up_at x2
#define left x3

.macro gate_sixteen
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [gate], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [up_at], #64
    each_by fmax, 0, 1, 2, 3, 0, 1, 2, 3, v16.4s
    each    fmul, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3
    each    fmul, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
.endm

.macro gate_one
    ldr     s0, [gate], #4
    ldr     s4, [up_at], #4
    fmax    s0, s0, s16
    fmul    s0, s0, s0
    fmul    s0, s0, s4
    str     s0, [out], #4
.endm

func relu2_mul_f32_neon
    movi    v16.4s, #0
    for_elements left, gate_sixteen, gate_one
    ret
endfunc relu2_mul_f32_neon
