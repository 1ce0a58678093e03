// void layernorm_f32_neon(float *y, const float *x, const float *w, const float *b, size_t n,
//                         float eps)
//
// x0 y; x1 x; x2 w; x3 b; x4 n; s0 eps;
// x5 pointer, x6 count, x7 sixteen lanes on the stack, v16-v19 the lanes, v30 mean, v31 scale.
// Clobbers x0-x3, x5-x7, v0-v7, v16-v23, v30, v31; 64 bytes of stack.
//
// Makes three passes of sixteen elements per step: sum, squares of x - mean, y. The elements of a
// tail are added to their lanes in memory, one by one. 16 elements of the last pass take 66 cycles
// in the model of Cortex-A53, 19 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define out x0
#define vector x1
#define weight x2
#define bias x3
#define length x4
#define cursor x5
#define left x6
#define lanes x7
#define mean v30
#define scale v31

.macro sum_step a, b, c, e
    fadd    v16.4s, v16.4s, \a\().4s
    fadd    v17.4s, v17.4s, \b\().4s
    fadd    v18.4s, v18.4s, \c\().4s
    fadd    v19.4s, v19.4s, \e\().4s
.endm

.macro sum_one
    fadd    s5, s5, s4
.endm

.macro square_step a, b, c, e
    fsub    \a\().4s, \a\().4s, mean.4s
    fsub    \b\().4s, \b\().4s, mean.4s
    fsub    \c\().4s, \c\().4s, mean.4s
    fsub    \e\().4s, \e\().4s, mean.4s
    fmla    v16.4s, \a\().4s, \a\().4s
    fmla    v17.4s, \b\().4s, \b\().4s
    fmla    v18.4s, \c\().4s, \c\().4s
    fmla    v19.4s, \e\().4s, \e\().4s
.endm

.macro square_one
    fsub    s4, s4, s30
    fmadd   s5, s4, s4, s5
.endm

// s16 = the sum over x of the terms that the macros `step` and `one` add to the lanes
.macro sum_pass step, one
    movi    v16.4s, #0
    movi    v17.4s, #0
    movi    v18.4s, #0
    movi    v19.4s, #0
    mov     cursor, vector
    subs    left, length, #16
    b.lo    .Lragged\@
.Lsixteen\@:
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [cursor], #64
    subs    left, left, #16
    \step   v4, v5, v6, v7
    b.hs    .Lsixteen\@
.Lragged\@:
    adds    left, left, #16
    b.eq    .Lfold\@
    mov     lanes, sp
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
.Lone\@:
    ldr     s4, [cursor], #4
    ldr     s5, [lanes]
    subs    left, left, #1
    \one
    str     s5, [lanes], #4
    b.ne    .Lone\@
    mov     lanes, sp
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
.Lfold\@:
    fold_lanes v16, v17, v18, v19
.endm

func layernorm_f32_neon
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    sum_pass sum_step, sum_one
    ucvtf   s20, length
    fdiv    s16, s16, s20
    dup     mean.4s, v16.s[0]
    sum_pass square_step, square_one
    fdiv    s16, s16, s20
    fadd    s16, s16, s0
    fsqrt   s16, s16
    fmov    s31, #1.0
    fdiv    s31, s31, s16

    subs    left, length, #16
    b.lo    2f
1:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [weight], #64
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [bias], #64
    subs    left, left, #16
.irp part, v0.4s, v1.4s, v2.4s, v3.4s
    fsub    \part, \part, mean.4s
    fmul    \part, \part, scale.s[0]
.endr
    fmla    v16.4s, v0.4s, v4.4s
    fmla    v17.4s, v1.4s, v5.4s
    fmla    v18.4s, v2.4s, v6.4s
    fmla    v19.4s, v3.4s, v7.4s
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [out], #64
    b.hs    1b
2:
    adds    left, left, #16
    b.eq    4f
3:
    ldr     s0, [vector], #4
    ldr     s4, [weight], #4
    ldr     s16, [bias], #4
    subs    left, left, #1
    fsub    s0, s0, s30
    fmul    s0, s0, s31
    fmadd   s0, s0, s4, s16
    str     s0, [out], #4
    b.ne    3b
4:
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
    ret
endfunc layernorm_f32_neon
