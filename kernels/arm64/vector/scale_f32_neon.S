// void scale_f32_neon(float *y, const float *x, size_t n, float factor)
//
// x0 y; x1 x; x2 n; s0 factor.
// Clobbers x0-x2, v1, v4-v7, v16-v19.
//
// A step takes two groups of sixteen elements and reads a group before it writes y, so
// that y may be x. Loads and stores are the limit.
#include "kernels/arm64/asm.h"

#define out x0
#define vector x1
#define left x2

.macro scale_sixteen a, b, c, e
    ld1     {\a\().4s, \b\().4s, \c\().4s, \e\().4s}, [vector], #64
    fmul    \a\().4s, \a\().4s, v0.s[0]
    fmul    \b\().4s, \b\().4s, v0.s[0]
    fmul    \c\().4s, \c\().4s, v0.s[0]
    fmul    \e\().4s, \e\().4s, v0.s[0]
    st1     {\a\().4s, \b\().4s, \c\().4s, \e\().4s}, [out], #64
.endm

func scale_f32_neon, place=.early
    subs    left, left, #32
    b.lo    2f
1:
    subs    left, left, #32
    scale_sixteen v4, v5, v6, v7
    scale_sixteen v16, v17, v18, v19
    b.hs    1b
2:
    tbz     left, #4, 3f
    scale_sixteen v4, v5, v6, v7
3:
    ands    left, left, #15
    b.eq    5f
4:
    ldr     s1, [vector], #4
    subs    left, left, #1
    fmul    s1, s1, s0
    str     s1, [out], #4
    b.ne    4b
5:
    ret
endfunc scale_f32_neon
