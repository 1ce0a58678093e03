// void gemv_f32_q4x8_q8_neon_dotprod(float *y, const void *w, const struct block_q8 *x,
//                                    size_t rows, size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon_dotprod.h
// v0, v1 x of 32 columns, v2 its scale and sum; v8-v15, v16-v23 weights of the two groups
// v24-v27 sums of 16 rows; v3, v4 low nibbles; v5 mask, v6 eight, v7 MAGIC
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
//
// Nibbles stay unsigned; 8 sum(x) comes off with MAGIC, in one subtraction of exact floats.
// 32 columns of 16 rows take 78 operations of the vector pipes, of which fcvtl counts twice, and 97
// instructions: 44 cycles in the model of Neoverse N1, which stands for Cortex-A76, 6.6 bytes a
// cycle (llvm-mca 19).
#include "kernels/arm64/gemv_neon_dotprod.h"

#define first_scale x11
#define second_scale x12
#define block_step x13
#define last_step x14

#define mask v5
#define eight v6
#define magic v7

// Four columns of 8 rows and the four that lie 16 columns on.
.macro chunk rows0123, rows4567, sum0123, sum4567, column, low0123, low4567
    and     \low0123\().16b, \rows0123\().16b, mask.16b
    and     \low4567\().16b, \rows4567\().16b, mask.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    ushr    \rows4567\().16b, \rows4567\().16b, #4
    sdot    \sum0123\().4s, \low0123\().16b, v0.4b[\column]
    sdot    \sum4567\().4s, \low4567\().16b, v0.4b[\column]
    sdot    \sum0123\().4s, \rows0123\().16b, v1.4b[\column]
    sdot    \sum4567\().4s, \rows4567\().16b, v1.4b[\column]
.endm

.macro blocks_q4
    mov     first_scale, first
    mov     second_scale, second
    add     first, first, #QUANTS
    add     second, second, #QUANTS
    mov     block_step, #Q4X8_BYTES
    mov     last_step, #64 + QUANTS         // over the scales of the next block
    movi    mask.16b, #15
    movi    eight.4s, #8
    ld1     {magic.4s}, [seeds]
.Lblock\@:
    ld1     {v0.16b, v1.16b}, [block], #32
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [first], #64
    ld1     {v2.2s}, [block], #8
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [second], #64
    prfm    pldl1keep, [first, ahead]
    prfm    pldl1keep, [second, ahead]
    chunk   v16, v17, v24, v25, 0, v3, v4
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [first], last_step
    chunk   v8, v9, v26, v27, 0, v16, v17
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [second], last_step
    chunk   v18, v19, v24, v25, 1, v3, v4
    prfm    pldl1keep, [first, ahead]
    chunk   v10, v11, v26, v27, 1, v8, v9
    prfm    pldl1keep, [second, ahead]
    chunk   v20, v21, v24, v25, 2, v3, v4
    chunk   v12, v13, v26, v27, 2, v8, v9
    ld1     {v16.8h}, [first_scale], block_step
    ld1     {v17.8h}, [second_scale], block_step
    chunk   v22, v23, v24, v25, 3, v3, v4
    chunk   v14, v15, v26, v27, 3, v8, v9
    mul     v22.4s, eight.4s, v2.s[1]
    subs    blocks_left, blocks_left, #1
    add     v22.4s, v22.4s, magic.4s
    add_scaled_pair v16, v17, v2.s[0], v22
    b.ne    .Lblock\@
.endm

func gemv_f32_q4x8_q8_neon_dotprod, dotprod
    gemv_pairs blocks_q4, COLS_LOG2, Q4X8_BYTES, MAGIC
endfunc gemv_f32_q4x8_q8_neon_dotprod
