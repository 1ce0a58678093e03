// void gemv_f32_q8x8_q8_neon_dotprod(float *y, const void *w, const struct block_q8 *x,
//                                    size_t rows, size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon_dotprod.h
// v0, v1 x of 32 columns, v2 its scale; v4-v11 and v16-v23 weights; v12, v13 their scales;
// v14 MAGIC; v24-v27 sums of 16 rows
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
//
// 32 columns of 16 rows take 52 operations of the vector pipes and 72 instructions, 544 bytes:
// bound by memory, as 20 bytes a cycle in the model of Neoverse N1 are (llvm-mca 19).
#include "kernels/arm64/matrix/gemv/gemv_neon_dotprod.h"

// Eight columns of 8 rows: the next 64 bytes of a group, from column 4 * `column` of x on.
.macro two_chunks w0, w1, w2, w3, group, sum0123, sum4567, x_chunks, column
    ld1     {\w0\().16b, \w1\().16b, \w2\().16b, \w3\().16b}, [\group], #64
    prfm    pldl1keep, [\group, ahead]
    sdot    \sum0123\().4s, \w0\().16b, \x_chunks\().4b[\column]
    sdot    \sum4567\().4s, \w1\().16b, \x_chunks\().4b[\column]
    sdot    \sum0123\().4s, \w2\().16b, \x_chunks\().4b[\column + 1]
    sdot    \sum4567\().4s, \w3\().16b, \x_chunks\().4b[\column + 1]
.endm

.macro blocks_q8
    ld1     {v14.4s}, [seeds]
.Lblock\@:
    ld1     {v0.16b, v1.16b}, [block], #32
    ld1     {v12.8h}, [first], #16
    ld1     {v13.8h}, [second], #16
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
    two_chunks v4, v5, v6, v7, first, v24, v25, v0, 0
    two_chunks v8, v9, v10, v11, second, v26, v27, v0, 0
    two_chunks v16, v17, v18, v19, first, v24, v25, v0, 2
    two_chunks v20, v21, v22, v23, second, v26, v27, v0, 2
    ld1     {v2.2s}, [block], #8
    two_chunks v4, v5, v6, v7, first, v24, v25, v1, 0
    two_chunks v8, v9, v10, v11, second, v26, v27, v1, 0
    two_chunks v16, v17, v18, v19, first, v24, v25, v1, 2
    two_chunks v20, v21, v22, v23, second, v26, v27, v1, 2
    subs    blocks_left, blocks_left, #1
    add_scaled_pair v12, v13, v2.s[0], v14
    b.ne    .Lblock\@
.endm

func gemv_f32_q8x8_q8_neon_dotprod, dotprod
    gemv_pairs blocks_q8, COLS_LOG2, Q8X8_BYTES, MAGIC
endfunc gemv_f32_q8x8_q8_neon_dotprod
