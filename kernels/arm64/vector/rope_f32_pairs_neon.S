// void rope_f32_pairs_neon(float *x, const float *cos_sin, size_t d)
//
// x0 x; x1 cos_sin; x2 d, then pairs left; x3 x to write;
// v0, v1 first and second of four pairs, v2, v3 cos and sin, v4, v5 the rotated ones.
// Clobbers x0-x3, v0-v7, v16-v19.
//
// ld2 separates pairs and st2 joins them. 16 pairs take 30 instructions: 112 cycles in the model of
// Cortex-A53, 38 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define vector x0
#define cos_sin x1
#define pairs x2
#define rotated x3

.macro rotate_eight
    ld2     {v0.4s, v1.4s}, [vector], #32
    ld2     {v2.4s, v3.4s}, [cos_sin], #32
    ld2     {v16.4s, v17.4s}, [vector], #32
    ld2     {v18.4s, v19.4s}, [cos_sin], #32
    fmul    v4.4s, v0.4s, v2.4s
    fmul    v5.4s, v0.4s, v3.4s
    fmul    v6.4s, v16.4s, v18.4s
    fmul    v7.4s, v16.4s, v19.4s
    fmls    v4.4s, v1.4s, v3.4s
    fmla    v5.4s, v1.4s, v2.4s
    fmls    v6.4s, v17.4s, v19.4s
    fmla    v7.4s, v17.4s, v18.4s
    st2     {v4.4s, v5.4s}, [rotated], #32
    st2     {v6.4s, v7.4s}, [rotated], #32
.endm

func rope_f32_pairs_neon
    mov     rotated, vector
    lsr     pairs, pairs, #1
    subs    pairs, pairs, #16
    b.lo    2f
1:
    subs    pairs, pairs, #16
    rotate_eight
    rotate_eight
    b.hs    1b
2:
    tbz     pairs, #3, 3f
    rotate_eight
3:
    ands    pairs, pairs, #7
    b.eq    5f
4:
    ldp     s0, s1, [vector], #8
    ldp     s2, s3, [cos_sin], #8
    subs    pairs, pairs, #1
    fmul    s4, s0, s2
    fmul    s5, s0, s3
    fmsub   s4, s1, s3, s4
    fmadd   s5, s1, s2, s5
    stp     s4, s5, [rotated], #8
    b.ne    4b
5:
    ret
endfunc rope_f32_pairs_neon
