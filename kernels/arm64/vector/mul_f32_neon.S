// void mul_f32_neon(float *y, const float *a, const float *b, size_t n)
//
// x0 y; x1 a; x2 b; x3 n.
// Clobbers x0-x3, v0-v7.
//
// A step takes two groups of sixteen elements and reads a group before it writes y, so that y
// may be a or b. Loads and stores are the limit.
#include "kernels/arm64/vector/elementwise_neon.h"

#define out x0
#define first x1
#define second x2
#define left x3

.macro mul_sixteen
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [first], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [second], #64
    each    fmul, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
.endm

.macro mul_one
    ldr     s0, [first], #4
    ldr     s4, [second], #4
    fmul    s0, s0, s4
    str     s0, [out], #4
.endm

func mul_f32_neon
    for_elements left, mul_sixteen, mul_one
    ret
endfunc mul_f32_neon
