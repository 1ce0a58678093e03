// void rope_f32_halves_neon(float *x, const float *cos_sin, size_t d)
//
// x0 x  x1 cos_sin  x2 d, then pairs left  x3 second half of x
// v0, v1 first and second of four pairs, v2, v3 cos and sin, v4, v5 the rotated ones
// Clobbers x0-x3, v0-v5.
//
// As rope_f32_pairs, with the pairs in two runs; only cos_sin needs ld2. Four pairs a step: aims
// at 10 cycles on Cortex-A53.
#include "kernels/arm64/asm.h"

#define first x0
#define cos_sin x1
#define pairs x2
#define second x3

func rope_f32_halves_neon
    lsr     pairs, pairs, #1
    add     second, first, pairs, lsl #2
    subs    pairs, pairs, #4
    b.lo    2f
1:
    ld1     {v0.4s}, [first]
    ld1     {v1.4s}, [second]
    ld2     {v2.4s, v3.4s}, [cos_sin], #32
    subs    pairs, pairs, #4
    fmul    v4.4s, v0.4s, v2.4s
    fmul    v5.4s, v0.4s, v3.4s
    fmls    v4.4s, v1.4s, v3.4s
    fmla    v5.4s, v1.4s, v2.4s
    st1     {v4.4s}, [first], #16
    st1     {v5.4s}, [second], #16
    b.hs    1b
2:
    adds    pairs, pairs, #4
    b.eq    4f
3:
    ldr     s0, [first]
    ldr     s1, [second]
    ldp     s2, s3, [cos_sin], #8
    subs    pairs, pairs, #1
    fmul    s4, s0, s2
    fmul    s5, s0, s3
    fmsub   s4, s1, s3, s4
    fmadd   s5, s1, s2, s5
    str     s4, [first], #4
    str     s5, [second], #4
    b.ne    3b
4:
    ret
endfunc rope_f32_halves_neon
