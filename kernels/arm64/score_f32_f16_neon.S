// void score_f32_f16_neon(float *y, const float *q, const uint16_t *k, size_t n, size_t d,
//                         float scale)
//
// x0 y  x1 q  x2 k  x3 n  x4 d  s0 scale
// x5-x7 rows 1 to 3 of the four at hand, x8 bytes of a row, x9 cursor of q, x10 columns left,
// x11 lanes on the stack; v0 scale, v1-v4 q, v5, v6 k, v7 k converted, v16-v31 lanes of four rows
// Clobbers x0, x2, x3, x5-x11, v1-v7, v16-v31; 64 bytes of stack.
//
// Heads of a multiple of 16: four rows at a time share the loads of q; of a ragged last group the
// missing rows are computed as copies of its first and not stored. Other heads: a row at a time,
// its tail continuing in the lanes in memory. 64 products take 16 fma, 16 conversions and 9
// loads: aims at 45 cycles for them on Cortex-A53.
#include "kernels/arm64/asm.h"

#define out x0
#define query x1
#define row0 x2
#define n_rows x3
#define n_cols x4
#define row1 x5
#define row2 x6
#define row3 x7
#define row_bytes x8
#define column x9
#define left x10
#define lanes x11

// Sixteen products of one row, q in v1-v4.
.macro row_step pointer, acc0, acc1, acc2, acc3
    ld1     {v5.8h, v6.8h}, [\pointer], #32
    fcvtl   v7.4s, v5.4h
    fcvtl2  v5.4s, v5.8h
    fmla    \acc0\().4s, v1.4s, v7.4s
    fmla    \acc1\().4s, v2.4s, v5.4s
    fcvtl   v7.4s, v6.4h
    fcvtl2  v6.4s, v6.8h
    fmla    \acc2\().4s, v3.4s, v7.4s
    fmla    \acc3\().4s, v4.4s, v6.4s
.endm

func score_f32_f16_neon
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    cbz     n_rows, 9f
    tst     n_cols, #15
    b.ne    5f

    lsl     row_bytes, n_cols, #1
1:
    add     row1, row0, row_bytes
    add     row2, row0, row_bytes, lsl #1
    add     row3, row1, row_bytes, lsl #1
    cmp     n_rows, #2
    csel    row1, row0, row1, lo
    csel    row2, row0, row2, ls
    cmp     n_rows, #4
    csel    row3, row0, row3, lo
.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    movi    v\n\().4s, #0
.endr
    mov     column, query
    mov     left, n_cols
    cbz     n_cols, 3f
2:
    ld1     {v1.4s, v2.4s, v3.4s, v4.4s}, [column], #64
    subs    left, left, #16
    row_step row0, v16, v17, v18, v19
    row_step row1, v20, v21, v22, v23
    row_step row2, v24, v25, v26, v27
    row_step row3, v28, v29, v30, v31
    b.ne    2b
3:
    fold_four_rows
    mov     row0, row3              // the fourth row's end is the next group's start
    fmul    v16.4s, v16.4s, v0.s[0]
    subs    n_rows, n_rows, #4
    b.lo    4f
    st1     {v16.4s}, [out], #16
    b.ne    1b
4:
    and     n_rows, n_rows, #3      // rows mod 4: nothing after whole groups
    store_ragged v16, v16, out, n_rows
    b       9f

5:
    movi    v16.4s, #0
    movi    v17.4s, #0
    movi    v18.4s, #0
    movi    v19.4s, #0
    mov     column, query
    subs    left, n_cols, #16
    b.lo    7f
6:
    ld1     {v1.4s, v2.4s, v3.4s, v4.4s}, [column], #64
    row_step row0, v16, v17, v18, v19
    subs    left, left, #16
    b.hs    6b
7:
    add     left, left, #16         // 1 to 15
    mov     lanes, sp
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
8:
    ldr     s1, [column], #4
    ldr     h5, [row0], #2
    ldr     s2, [lanes]
    fcvt    s5, h5
    subs    left, left, #1
    fmadd   s2, s1, s5, s2
    str     s2, [lanes], #4
    b.ne    8b
    mov     lanes, sp
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [lanes]
    fold_lanes v16, v17, v18, v19
    fmul    s16, s16, s0
    subs    n_rows, n_rows, #1
    str     s16, [out], #4
    b.ne    5b
9:
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
    ret
endfunc score_f32_f16_neon
