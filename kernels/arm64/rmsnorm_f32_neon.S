// void rmsnorm_f32_neon(float *y, const float *x, const float *w, size_t n, float eps)
//
// x0 y  x1 x  x2 w  x3 n  s0 eps
// x4 pointer, x5 count, x6 sixteen lanes on the stack, v16-v19 the lanes, v31.s[0] the scale
// Clobbers x0-x2, x4-x6, v0-v7, v16-v20, v31; 64 bytes of stack.
//
// Sixteen elements a step. A tail continues in its lanes in memory, one by one.
// 16 elements take 4 fma in the first pass and 8 multiplications in the second: aims at 2
// cycles an element on Cortex-A53.
#include "kernels/arm64/asm.h"

#define out x0
#define vector x1
#define weight x2
#define length x3
#define cursor x4
#define left x5
#define lanes x6

func rmsnorm_f32_neon
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    movi    v16.4s, #0
    movi    v17.4s, #0
    movi    v18.4s, #0
    movi    v19.4s, #0
    mov     cursor, vector
    subs    left, length, #16
    b.lo    2f
1:
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [cursor], #64
    subs    left, left, #16
    fmla    v16.4s, v4.4s, v4.4s
    fmla    v17.4s, v5.4s, v5.4s
    fmla    v18.4s, v6.4s, v6.4s
    fmla    v19.4s, v7.4s, v7.4s
    b.hs    1b
2:
    adds    left, left, #16
    b.eq    4f
    mov     lanes, sp
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
3:
    ldr     s4, [cursor], #4
    ldr     s5, [lanes]
    subs    left, left, #1
    fmadd   s5, s4, s4, s5
    str     s5, [lanes], #4
    b.ne    3b
    mov     lanes, sp
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
4:
    fold_lanes v16, v17, v18, v19
    ucvtf   s20, length
    fdiv    s16, s16, s20
    fadd    s16, s16, s0
    fsqrt   s16, s16
    fmov    s31, #1.0
    fdiv    s31, s31, s16

    subs    left, length, #16
    b.lo    6f
5:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [weight], #64
    subs    left, left, #16
    fmul    v0.4s, v0.4s, v31.s[0]
    fmul    v1.4s, v1.4s, v31.s[0]
    fmul    v2.4s, v2.4s, v31.s[0]
    fmul    v3.4s, v3.4s, v31.s[0]
    fmul    v0.4s, v0.4s, v4.4s
    fmul    v1.4s, v1.4s, v5.4s
    fmul    v2.4s, v2.4s, v6.4s
    fmul    v3.4s, v3.4s, v7.4s
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
    b.hs    5b
6:
    adds    left, left, #16
    b.eq    8f
7:
    ldr     s0, [vector], #4
    ldr     s4, [weight], #4
    subs    left, left, #1
    fmul    s0, s0, s31
    fmul    s0, s0, s4
    str     s0, [out], #4
    b.ne    7b
8:
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
    ret
endfunc rmsnorm_f32_neon
