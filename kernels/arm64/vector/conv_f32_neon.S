// void conv_f32_neon(float *y, const float *x, const float *w, const float *bias,
//                    const struct conv_shape *shape)
//
// x0 y; x1 x; x2 w; x3 bias or 0; x4 shape;
// x5 n_taps, x6 channels left, x7 and x8 bytes from tap to tap, x9 and x10 pointers, x11 taps left;
// v0-v3 x, v4-v7 w, v16-v19 sums.
// Clobbers x0-x3, x5-x11, v0-v7, v16-v19.
//
// Takes sixteen channels at a time, then single channels; a channel's taps are all added
// before the next channel. The 16 products of a tap take 8 instructions: 33 cycles in the
// model of Cortex-A53, 9 in that of Cortex-A72, 5 in that of Neoverse N1 (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define out x0
#define vectors x1
#define weights x2
#define bias x3
#define shape x4
#define n_taps x5
#define left x6
#define vector_bytes x7
#define weight_bytes x8
#define vector x9
#define weight x10
#define taps_left x11

.macro start_taps
    mov     vector, vectors
    mov     weight, weights
    mov     taps_left, n_taps
.endm

func conv_f32_neon
    ldp     n_taps, left, [shape, #CONV_TAPS]
    ldp     vector_bytes, weight_bytes, [shape, #CONV_X_STRIDE]
    lsl     vector_bytes, vector_bytes, #2
    lsl     weight_bytes, weight_bytes, #2
    subs    left, left, #16
    b.lo    .Lragged
.Lsixteen:
    movi    v16.4s, #0
    movi    v17.4s, #0
    movi    v18.4s, #0
    movi    v19.4s, #0
    cbz     bias, .Lstart
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [bias], #64
.Lstart:
    start_taps
.Ltap:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector], vector_bytes
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [weight], weight_bytes
    subs    taps_left, taps_left, #1
    fmla    v16.4s, v4.4s, v0.4s
    fmla    v17.4s, v5.4s, v1.4s
    fmla    v18.4s, v6.4s, v2.4s
    fmla    v19.4s, v7.4s, v3.4s
    b.ne    .Ltap
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [out], #64
    add     vectors, vectors, #64
    add     weights, weights, #64
    subs    left, left, #16
    b.hs    .Lsixteen
.Lragged:
    adds    left, left, #16
    b.eq    .Ldone
.Lone:
    movi    v16.4s, #0
    cbz     bias, .Lstart_one
    ldr     s16, [bias], #4
.Lstart_one:
    start_taps
.Ltap_one:
    ld1     {v0.s}[0], [vector], vector_bytes
    ld1     {v4.s}[0], [weight], weight_bytes
    subs    taps_left, taps_left, #1
    fmadd   s16, s4, s0, s16
    b.ne    .Ltap_one
    str     s16, [out], #4
    add     vectors, vectors, #4
    add     weights, weights, #4
    subs    left, left, #1
    b.ne    .Lone
.Ldone:
    ret
endfunc conv_f32_neon
