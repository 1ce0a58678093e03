// void rmsnorm_f32_neon(float *y, const float *x, const float *w, size_t n, float eps,
//                       float offset)
//
// x0 y; x1 x; x2 w; x3 n; s0 eps; s1 offset;
// x4 pointer, x5 count, x6 sixteen lanes on the stack, v16-v19 the lanes, v30 offset, v31.s[0] the
// scale.
// Clobbers x0-x2, x4-x6, v0-v7, v16-v23, v30, v31; 64 bytes of stack.
//
// A step takes thirty-two elements. The elements of a tail are added to their lanes in memory, one
// by one. 32 elements take 12 instructions in the first pass and 32 in the second: 42 and 70 cycles
// in the model of Cortex-A53, 8 and 39 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define out x0
#define vector x1
#define weight x2
#define length x3
#define cursor x4
#define left x5
#define lanes x6
#define offset v30
#define scale v31.s[0]

.macro square_sixteen a, b, c, e
    ld1     {\a\().4s, \b\().4s, \c\().4s, \e\().4s}, [cursor], #64
    fmla    v16.4s, \a\().4s, \a\().4s
    fmla    v17.4s, \b\().4s, \b\().4s
    fmla    v18.4s, \c\().4s, \c\().4s
    fmla    v19.4s, \e\().4s, \e\().4s
.endm

.macro scale_sixteen
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [weight], #64
    fmul    v0.4s, v0.4s, scale
    fmul    v1.4s, v1.4s, scale
    fmul    v2.4s, v2.4s, scale
    fmul    v3.4s, v3.4s, scale
    fadd    v4.4s, v4.4s, offset.4s
    fadd    v5.4s, v5.4s, offset.4s
    fadd    v6.4s, v6.4s, offset.4s
    fadd    v7.4s, v7.4s, offset.4s
    fmul    v0.4s, v0.4s, v4.4s
    fmul    v1.4s, v1.4s, v5.4s
    fmul    v2.4s, v2.4s, v6.4s
    fmul    v3.4s, v3.4s, v7.4s
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
.endm

func rmsnorm_f32_neon
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    dup     offset.4s, v1.s[0]
    movi    v16.4s, #0
    movi    v17.4s, #0
    movi    v18.4s, #0
    movi    v19.4s, #0
    mov     cursor, vector
    subs    left, length, #32
    b.lo    2f
1:
    subs    left, left, #32
    square_sixteen v4, v5, v6, v7
    square_sixteen v20, v21, v22, v23
    b.hs    1b
2:
    tbz     left, #4, 3f
    square_sixteen v4, v5, v6, v7
3:
    ands    left, left, #15
    b.eq    5f
    mov     lanes, sp
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
4:
    ldr     s4, [cursor], #4
    ldr     s5, [lanes]
    subs    left, left, #1
    fmadd   s5, s4, s4, s5
    str     s5, [lanes], #4
    b.ne    4b
    mov     lanes, sp
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
5:
    fold_lanes v16, v17, v18, v19
    ucvtf   s20, length
    fdiv    s16, s16, s20
    fadd    s16, s16, s0
    fsqrt   s16, s16
    fmov    s31, #1.0
    fdiv    s31, s31, s16

    subs    left, length, #32
    b.lo    7f
6:
    subs    left, left, #32
    scale_sixteen
    scale_sixteen
    b.hs    6b
7:
    tbz     left, #4, 8f
    scale_sixteen
8:
    ands    left, left, #15
    b.eq    10f
9:
    ldr     s0, [vector], #4
    ldr     s4, [weight], #4
    subs    left, left, #1
    fmul    s0, s0, s31
    fadd    s4, s4, s30
    fmul    s0, s0, s4
    str     s0, [out], #4
    b.ne    9b
10:
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
    ret
endfunc rmsnorm_f32_neon
