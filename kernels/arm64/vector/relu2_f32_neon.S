// void relu2_f32_neon(float *y, const float *x, size_t n)
//
// x0 y; x1 x; x2 n.
// Clobbers x0-x2, v0-v4.
//
// A step takes two groups of sixteen elements and reads a group before it writes y, so that y
// may be x. fmax keeps NaNs.
#include "kernels/arm64/vector/elementwise_neon.h"

#define out x0
#define vector x1
#define left x2

.macro square_sixteen
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector], #64
    each_by fmax, 0, 1, 2, 3, 0, 1, 2, 3, v4.4s
    each    fmul, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
.endm

.macro square_one
    ldr     s0, [vector], #4
    fmax    s0, s0, s4
    fmul    s0, s0, s0
    str     s0, [out], #4
.endm

func relu2_f32_neon
    movi    v4.4s, #0
    for_elements left, square_sixteen, square_one
    ret
endfunc relu2_f32_neon
