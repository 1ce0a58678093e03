// void add_f32_neon(float *y, const float *x, size_t n)
//
// x0 y; x1 x; x2 n.
// Clobbers x0-x2, v0-v7.
//
// A step of 32 elements has 8 additions and moves 24 vectors: loads and stores are the limit.
#include "kernels/arm64/asm.h"

#define out x0
#define vector x1
#define left x2

.macro add_sixteen
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out]
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [vector], #64
    fadd    v0.4s, v0.4s, v4.4s
    fadd    v1.4s, v1.4s, v5.4s
    fadd    v2.4s, v2.4s, v6.4s
    fadd    v3.4s, v3.4s, v7.4s
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
.endm

func add_f32_neon
    subs    left, left, #32
    b.lo    2f
1:
    subs    left, left, #32
    add_sixteen
    add_sixteen
    b.hs    1b
2:
    tbz     left, #4, 3f
    add_sixteen
3:
    ands    left, left, #15
    b.eq    5f
4:
    ldr     s0, [out]
    ldr     s4, [vector], #4
    subs    left, left, #1
    fadd    s0, s0, s4
    str     s0, [out], #4
    b.ne    4b
5:
    ret
endfunc add_f32_neon
