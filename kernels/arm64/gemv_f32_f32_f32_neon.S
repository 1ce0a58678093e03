// void gemv_f32_f32_f32_neon(float *y, const void *w, const float *x, size_t rows, size_t cols)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols
// x5-x7 rows 1 to 3 of the four at hand, x8 bytes of a row, x9 column of x, x10 columns left
// v16-v31 sixteen lanes of four rows, v0-v3 x, v4-v7 weights
// Clobbers x1, x3, x5-x10, v0-v7, v16-v31.
//
// Four rows at a time share the loads of x. Of a ragged last group the missing rows are
// computed as copies of its first and not stored.
// 64 weights take 16 fma and 5 loads: bound by 4 bytes a weight from memory on any core.
#include "kernels/arm64/asm.h"

#define out x0
#define row0 x1
#define vector x2
#define n_rows x3
#define n_cols x4
#define row1 x5
#define row2 x6
#define row3 x7
#define row_bytes x8
#define column x9
#define left x10

.macro row_step pointer, acc0, acc1, acc2, acc3
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [\pointer], #64
    fmla    \acc0\().4s, v4.4s, v0.4s
    fmla    \acc1\().4s, v5.4s, v1.4s
    fmla    \acc2\().4s, v6.4s, v2.4s
    fmla    \acc3\().4s, v7.4s, v3.4s
.endm

func gemv_f32_f32_f32_neon
    cbz     n_rows, 5f
    lsl     row_bytes, n_cols, #2
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
    mov     column, vector
    mov     left, n_cols
    cbz     n_cols, 3f
2:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [column], #64
    subs    left, left, #16
    row_step row0, v16, v17, v18, v19
    row_step row1, v20, v21, v22, v23
    row_step row2, v24, v25, v26, v27
    row_step row3, v28, v29, v30, v31
    b.ne    2b
3:
    fold_four_rows
    mov     row0, row3              // the fourth row's end is the next group's start
    subs    n_rows, n_rows, #4
    b.lo    4f
    st1     {v16.4s}, [out], #16
    b.ne    1b
4:
    and     n_rows, n_rows, #3      // rows mod 4: nothing after whole groups
    store_ragged v16, v16, out, n_rows
5:
    ret
endfunc gemv_f32_f32_f32_neon
