// void rope_f32_halves_neon(float *x, const float *cos_sin, size_t d)
//
// x0 x; x1 cos_sin; x2 d, then pairs left; x3 second half of x;
// v0-v3 first and v4-v7 second of sixteen pairs, v16, v17 cos and sin, v24-v31 the rotated ones.
// Clobbers x0-x3, v0-v7, v16-v31.
//
// Works like rope_f32_pairs, but the first elements of the pairs form one run and the second
// elements another, so only cos_sin needs ld2. 16 pairs take 26 instructions: 116 cycles in the
// model of Cortex-A53, 33 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define first x0
#define cos_sin x1
#define pairs x2
#define second x3

.macro rotate_four a, b, cosine, sine, a_out, b_out
    ld2     {\cosine\().4s, \sine\().4s}, [cos_sin], #32
    fmul    \a_out\().4s, \a\().4s, \cosine\().4s
    fmul    \b_out\().4s, \a\().4s, \sine\().4s
    fmls    \a_out\().4s, \b\().4s, \sine\().4s
    fmla    \b_out\().4s, \b\().4s, \cosine\().4s
.endm

func rope_f32_halves_neon
    lsr     pairs, pairs, #1
    add     second, first, pairs, lsl #2
    subs    pairs, pairs, #16
    b.lo    2f
1:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [first]
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [second]
    subs    pairs, pairs, #16
    rotate_four v0, v4, v16, v17, v24, v28
    rotate_four v1, v5, v18, v19, v25, v29
    rotate_four v2, v6, v20, v21, v26, v30
    rotate_four v3, v7, v22, v23, v27, v31
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [first], #64
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [second], #64
    b.hs    1b
2:
    ands    pairs, pairs, #15
    b.eq    6f
    subs    pairs, pairs, #4
    b.lo    4f
3:
    ld1     {v0.4s}, [first]
    ld1     {v1.4s}, [second]
    subs    pairs, pairs, #4
    rotate_four v0, v1, v16, v17, v24, v28
    st1     {v24.4s}, [first], #16
    st1     {v28.4s}, [second], #16
    b.hs    3b
4:
    ands    pairs, pairs, #3
    b.eq    6f
5:
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
    b.ne    5b
6:
    ret
endfunc rope_f32_halves_neon
