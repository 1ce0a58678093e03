// void l2norm_f32_neon(float *y, const float *x, size_t n, float eps)
//
// x0 y; x1 x; x2 n; s0 eps;
// x3 cursor, x4 count, x5 sixteen lanes on the stack, v16-v19 the lanes, v0.s[0] the scale.
// Clobbers x0-x5, v0, v1, v4-v7, v16-v19; 64 bytes of stack.
//
// Both passes take thirty-two elements per step; the second reads before it writes, so
// that y may be x. The elements of a tail are added to their lanes in memory, one by one.
#include "kernels/arm64/vector/elementwise_neon.h"

#define out x0
#define vector x1
#define length x2
#define cursor x3
#define left x4
#define lanes x5

.macro square_sixteen
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [cursor], #64
    each    fmla, 16, 17, 18, 19, 4, 5, 6, 7, 4, 5, 6, 7
.endm

.macro scale_sixteen
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [vector], #64
    each_by fmul, 4, 5, 6, 7, 4, 5, 6, 7, v0.s[0]
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [out], #64
.endm

.macro scale_one
    ldr     s4, [vector], #4
    fmul    s4, s4, s0
    str     s4, [out], #4
.endm

func l2norm_f32_neon
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    movi    v16.4s, #0
    movi    v17.4s, #0
    movi    v18.4s, #0
    movi    v19.4s, #0
    mov     cursor, vector
    subs    left, length, #16
    b.lo    .Ltail
.Lsquares:
    subs    left, left, #16
    square_sixteen
    b.hs    .Lsquares
.Ltail:
    ands    left, left, #15
    b.eq    .Lfold
    mov     lanes, sp
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
.Lsquare:
    ldr     s4, [cursor], #4
    ldr     s5, [lanes]
    subs    left, left, #1
    fmadd   s5, s4, s4, s5
    str     s5, [lanes], #4
    b.ne    .Lsquare
    mov     lanes, sp
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
.Lfold:
    fold_lanes v16, v17, v18, v19
    fadd    s16, s16, s0
    fmov    s1, #1.0
    fsqrt   s16, s16
    fdiv    s0, s1, s16
    for_elements length, scale_sixteen, scale_one
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
    ret
endfunc l2norm_f32_neon
