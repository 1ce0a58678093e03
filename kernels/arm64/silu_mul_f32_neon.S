// void silu_mul_f32_neon(float *y, const float *gate, const float *up, size_t n)
//
// x0 y  x1 gate  x2 up  x3 n
// x4 tail, x5 y of the tail, x9-x12 for copying, v24-v29 constants
// Clobbers x0-x5, x9-x12, v0-v7, v16-v29; 128 bytes of stack.
//
// Sixteen elements a step, each read before y is written, so that y may be gate or up. A tail
// is worked on in the stack; what lies beyond it there is computed in vain. 16 elements take 108
// instructions for e^-gate, 4 divisions and 20 others: aims at 180 cycles for them on
// Cortex-A53.
#include "kernels/arm64/asm.h"
#include "kernels/arm64/exp.h"

#define out x0
#define gate x1
#define up x2
#define left x3
#define tail x4
#define tail_out x5

func silu_mul_f32_neon
    sub     sp, sp, #128
    .cfi_adjust_cfa_offset 128
    exp_constants
    mov     tail, #0
1:
    subs    left, left, #16
    b.lo    3f
2:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [gate]
    fneg    v0.4s, v0.4s
    fneg    v1.4s, v1.4s
    fneg    v2.4s, v2.4s
    fneg    v3.4s, v3.4s
    exp_sixteen
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [gate], #64
    fadd    v0.4s, v0.4s, exp_one.4s
    fadd    v1.4s, v1.4s, exp_one.4s
    fadd    v2.4s, v2.4s, exp_one.4s
    fadd    v3.4s, v3.4s, exp_one.4s
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [up], #64
    fdiv    v0.4s, v4.4s, v0.4s
    fdiv    v1.4s, v5.4s, v1.4s
    fdiv    v2.4s, v6.4s, v2.4s
    fdiv    v3.4s, v7.4s, v3.4s
    fmul    v0.4s, v0.4s, v16.4s
    fmul    v1.4s, v1.4s, v17.4s
    fmul    v2.4s, v2.4s, v18.4s
    fmul    v3.4s, v3.4s, v19.4s
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
    cbz     tail, 1b
    mov     x10, sp
    copy_words tail_out, x10, tail, w9
    b       4f
3:
    adds    tail, left, #16
    b.eq    4f
    mov     x10, sp
    mov     x11, tail
    copy_words x10, gate, x11, w9
    add     x12, sp, #64
    mov     x11, tail
    copy_words x12, up, x11, w9
    mov     tail_out, out
    mov     gate, sp
    add     up, sp, #64
    mov     out, sp
    b       2b
4:
    add     sp, sp, #128
    .cfi_adjust_cfa_offset -128
    ret
endfunc silu_mul_f32_neon
