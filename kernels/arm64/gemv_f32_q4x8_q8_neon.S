// void gemv_f32_q4x8_q8_neon(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                            size_t cols)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols
// v0-v3 x of columns 0-15, v4-v7 x of columns 16-31, each 4 columns four times over
// v16-v23 weights, v24-v27 sums in int16 of rows 01, 23, 45, 67; v28, v29 y of 8 rows
// v8, v9 scale and sum of x's block; v30 mask, v31 low nibbles
// Clobbers x0-x6, v0-v7, v16-v31; d8 and d9 are saved.
//
// Eight rows at a time. A nibble stays unsigned; its product with x lies within 15 * 128 =
// 1920, and an int16 lane collects 8 of them in a block: 15360, so that smlal runs through the
// whole block and even the pairwise add after it (30720) fits 16 bits. One widening pairwise add
// makes the integers of 8 rows; 8 * sum(x) comes off once.
// 256 weights take 32 multiplications, 16 operations to part the nibbles and about 30 others:
// aims at 70 cycles on a core with one 128-bit vector pipe (Cortex-A53), 2 bytes a cycle.
#include "kernels/arm64/asm.h"

#define out x0
#define weights x1
#define blocks x2
#define n_rows x3
#define n_blocks x4
#define block x5
#define left x6

#define scales v16
#define sums01 v24
#define sums23 v25
#define sums45 v26
#define sums67 v27
#define acc_low v28
#define acc_high v29
#define mask v30
#define low v31
#define x_scale v8
#define x_sum v9

// One chunk of 8 rows: nibbles of columns c and c + 16 by x_low and x_high.
.macro chunk rows0123, rows4567, x_low, x_high, multiply
    and     low.16b, \rows0123\().16b, mask.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    \multiply   sums01.8h, low.8b, \x_low\().8b
    \multiply\()2 sums23.8h, low.16b, \x_low\().16b
    and     low.16b, \rows4567\().16b, mask.16b
    smlal   sums01.8h, \rows0123\().8b, \x_high\().8b
    smlal2  sums23.8h, \rows0123\().16b, \x_high\().16b
    ushr    \rows4567\().16b, \rows4567\().16b, #4
    \multiply   sums45.8h, low.8b, \x_low\().8b
    \multiply\()2 sums67.8h, low.16b, \x_low\().16b
    smlal   sums45.8h, \rows4567\().8b, \x_high\().8b
    smlal2  sums67.8h, \rows4567\().16b, \x_high\().16b
.endm

func gemv_f32_q4x8_q8_neon
    cbz     n_rows, 5f
    stp     d8, d9, [sp, #-16]!
    .cfi_adjust_cfa_offset 16
    lsr     n_blocks, n_blocks, #5
    movi    mask.16b, #15
1:
    movi    acc_low.4s, #0
    movi    acc_high.4s, #0
    mov     block, blocks
    mov     left, n_blocks
    cbz     n_blocks, 3f
2:
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], #16
    add     weights, weights, #16
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights]
    sub     weights, weights, #80
    ld2r    {x_scale.4s, x_sum.4s}, [block], #8
    chunk   v16, v17, v0, v4, smull
    ld1     {scales.8h}, [weights]
    chunk   v18, v19, v1, v5, smlal
    subs    left, left, #1
    chunk   v20, v21, v2, v6, smlal
    fcvtl   v17.4s, scales.4h
    fcvtl2  v18.4s, scales.8h
    shl     x_sum.4s, x_sum.4s, #3
    chunk   v22, v23, v3, v7, smlal
    add     weights, weights, #144
    fmul    v17.4s, v17.4s, x_scale.4s
    fmul    v18.4s, v18.4s, x_scale.4s
    addp    sums01.8h, sums01.8h, sums23.8h
    addp    sums45.8h, sums45.8h, sums67.8h
    saddlp  sums01.4s, sums01.8h
    saddlp  sums45.4s, sums45.8h
    sub     sums01.4s, sums01.4s, x_sum.4s
    sub     sums45.4s, sums45.4s, x_sum.4s
    scvtf   sums01.4s, sums01.4s
    scvtf   sums45.4s, sums45.4s
    fmla    acc_low.4s, sums01.4s, v17.4s
    fmla    acc_high.4s, sums45.4s, v18.4s
    b.ne    2b
3:
    subs    n_rows, n_rows, #8
    b.lo    4f
    st1     {acc_low.4s, acc_high.4s}, [out], #32
    b.ne    1b
4:
    store_ragged acc_low, acc_high, out, n_rows // of rows mod 8: nothing after whole groups
    ldp     d8, d9, [sp], #16
    .cfi_adjust_cfa_offset -16
5:
    ret
endfunc gemv_f32_q4x8_q8_neon
