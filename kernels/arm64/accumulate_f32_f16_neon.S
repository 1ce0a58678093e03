// void accumulate_f32_f16_neon(float *o, const float *p, const uint16_t *v, size_t n, size_t d)
//
// x0 o  x1 p  x2 v  x3 n  x4 d, then columns left
// x5 bytes of a row, x6 cursor of p, x7 cursor of v, x8 rows left
// v16-v23 the columns of o at hand, v0-v3 v, v4-v7 v converted, v24 p
// Clobbers x0, x2, x4-x8, v0-v7, v16-v24.
//
// Columns stay in registers over all rows: 32 at a time, then 8, then one. 32 products take 8
// fma, 8 conversions and 2 loads: aims at 22 cycles for them on Cortex-A53.
#include "kernels/arm64/asm.h"

#define out x0
#define factors x1
#define matrix x2
#define n_rows x3
#define left x4
#define row_bytes x5
#define factor x6
#define row x7
#define rows_left x8

.macro begin_columns
    mov     factor, factors
    mov     row, matrix
    mov     rows_left, n_rows
.endm

func accumulate_f32_f16_neon
    cbz     n_rows, 9f
    lsl     row_bytes, left, #1
    subs    left, left, #32
    b.lo    3f
1:
    begin_columns
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [out], #64
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [out]
    sub     out, out, #64
2:
    ld1     {v0.8h, v1.8h, v2.8h, v3.8h}, [row], row_bytes
    ld1r    {v24.4s}, [factor], #4
    subs    rows_left, rows_left, #1
    fcvtl   v4.4s, v0.4h
    fcvtl2  v5.4s, v0.8h
    fcvtl   v6.4s, v1.4h
    fcvtl2  v7.4s, v1.8h
    fmla    v16.4s, v24.4s, v4.4s
    fmla    v17.4s, v24.4s, v5.4s
    fmla    v18.4s, v24.4s, v6.4s
    fmla    v19.4s, v24.4s, v7.4s
    fcvtl   v4.4s, v2.4h
    fcvtl2  v5.4s, v2.8h
    fcvtl   v6.4s, v3.4h
    fcvtl2  v7.4s, v3.8h
    fmla    v20.4s, v24.4s, v4.4s
    fmla    v21.4s, v24.4s, v5.4s
    fmla    v22.4s, v24.4s, v6.4s
    fmla    v23.4s, v24.4s, v7.4s
    b.ne    2b
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [out], #64
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [out], #64
    add     matrix, matrix, #64
    subs    left, left, #32
    b.hs    1b
3:
    adds    left, left, #24         // 32 back, 8 ahead
    b.mi    6f
4:
    begin_columns
    ld1     {v16.4s, v17.4s}, [out]
5:
    ld1     {v0.8h}, [row], row_bytes
    ld1r    {v24.4s}, [factor], #4
    subs    rows_left, rows_left, #1
    fcvtl   v4.4s, v0.4h
    fcvtl2  v5.4s, v0.8h
    fmla    v16.4s, v24.4s, v4.4s
    fmla    v17.4s, v24.4s, v5.4s
    b.ne    5b
    st1     {v16.4s, v17.4s}, [out], #32
    add     matrix, matrix, #16
    subs    left, left, #8
    b.pl    4b
6:
    adds    left, left, #8
    b.eq    9f
7:
    begin_columns
    ldr     s16, [out]
8:
    ldr     h0, [row]
    ldr     s24, [factor], #4
    add     row, row, row_bytes
    subs    rows_left, rows_left, #1
    fcvt    s0, h0
    fmadd   s16, s24, s0, s16
    b.ne    8b
    str     s16, [out], #4
    add     matrix, matrix, #2
    subs    left, left, #1
    b.ne    7b
9:
    ret
endfunc accumulate_f32_f16_neon
