// void gemm_f32_q4kx8_q8kx4_sve(float *y, const void *w, const struct block_q8kx4 *x,
//                               const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_sve.h
// z24-z31 integers of 8 rows and 8 tokens over 256 columns, z16-z23 over 32; z8-z12 weights
// and scales, z0-z7 x; z15 zero; y is in the frame meanwhile
// Clobbers x0-x17, z0-z7, z16-z31, the high parts of z8-z15, p0-p2; x19-x26 and d8-d15 are saved.
//
// As the NEON kernel, but for the minima: a sum of 32 x is 128 high + low, both int8, so that four
// sub-blocks' minima of 8 rows take two sdot. 8 rows x 32 columns take a token 16.5 instructions
// at 256 bits: 6.5 cycles in the model of Neoverse V1 (llvm-mca 19).
#include "kernels/arm64/matrix/gemm/gemm_sve.h"

#define parts_left w_step

// Four sub-blocks' sums of four tokens: 16-bit lanes [even: j, j + 2][token], odd: j + 1, j + 3; to
// bytes [token][j to j + 3], the high part and the low one, in every quadword. v12 is 127
// everywhere.
.macro split_sums even, odd, high, low
    sshr    v13.8h, \even\().8h, #7
    sshr    v14.8h, \odd\().8h, #7
    and     \even\().16b, \even\().16b, v12.16b
    and     \odd\().16b, \odd\().16b, v12.16b
    sli     v13.8h, v14.8h, #8
    sli     \even\().8h, \odd\().8h, #8
    ext     v14.16b, v13.16b, v13.16b, #8
    ext     \odd\().16b, \even\().16b, \even\().16b, #8
    zip1    v13.8h, v13.8h, v14.8h
    zip1    \even\().8h, \even\().8h, \odd\().8h
    dup     \high\().q, z13.q[0]
    dup     \low\().q, \low\().q[0]
.endm

// The sums at `at` of four tokens, split: high0, high1 of sub-blocks 0-3, 4-7, and low. The names
// are numbers; low0 and low1 are where the even sums come first.
.macro load_sums at, high0, high1, low0, low1
    ld4     {v8.2d, v9.2d, v10.2d, v11.2d}, [\at], #64
    ld4     {v16.2d, v17.2d, v18.2d, v19.2d}, [\at], #64
    add     v\low0\().8h, v8.8h, v9.8h
    add     v9.8h, v10.8h, v11.8h
    add     v\low1\().8h, v16.8h, v17.8h
    add     v10.8h, v18.8h, v19.8h
    split_sums v\low0, v9, z\high0, z\low0
    split_sums v\low1, v10, z\high1, z\low1
.endm

// A token's minima, of rows in z9 and z10: 128 times those by the high parts, then by the low.
.macro token_minima sum, high0, high1, low0, low1, token
    sdot    \sum\().s, z9.b, \high0\().b[\token]
    sdot    \sum\().s, z10.b, \high1\().b[\token]
    lsl     \sum\().s, \sum\().s, #7
    sdot    \sum\().s, z9.b, \low0\().b[\token]
    sdot    \sum\().s, z10.b, \low1\().b[\token]
.endm

// y of a token, at y_room + place, += total times d (z11) - minimum times dmin (z12).
.macro finish_token total, minimum, own, token, place:vararg
    ld1b    {z2.b}, all_bytes/z, [y_room\place]
    fmul    z3.s, z11.s, \own\().s[\token]
    fmul    z4.s, z12.s, \own\().s[\token]
    scvtf   \total\().s, all_words/m, \total\().s
    scvtf   \minimum\().s, all_words/m, \minimum\().s
    fmla    z2.s, all_words/m, \total\().s, z3.s
    fmls    z2.s, all_words/m, \minimum\().s, z4.s
    st1b    {z2.b}, all_bytes, [y_room\place]
.endm

.macro sub_block
    begin_sums_sve z15
    dot_16_columns_sve 0, #128
    dot_16_columns_sve 16, #128
    move_x  128
    add_sub_block_sve
.endm

.macro multiply_q4k_sve
    keep_y
.Lblock\@:
    dup     z15.s, #0
    clear_eight z24, z25, z26, z27, z28, z29, z30, z31
    mov     parts_left, #4
.Lsub_blocks\@:
    sub_block
    sub_block
    subs    parts_left, parts_left, #1
    b.ne    .Lsub_blocks\@
    movi    v12.8h, #127
    load_sums x_block, 0, 1, 2, 3
    load_sums x_second, 4, 5, 6, 7
    ld1b    {z9.b}, all_bytes/z, [w_scale]
    ld1b    {z10.b}, all_bytes/z, [w_scale, at_32]
    ld1b    {z11.b}, all_bytes/z, [w_scale, at_64]
    ld1b    {z12.b}, all_bytes/z, [w_scale, at_96]
    add     w_scale, w_scale, #128
    begin_sums_sve z15
    token_minima z16, z0, z1, z2, z3, 0
    token_minima z17, z0, z1, z2, z3, 1
    token_minima z18, z0, z1, z2, z3, 2
    token_minima z19, z0, z1, z2, z3, 3
    token_minima z20, z4, z5, z6, z7, 0
    token_minima z21, z4, z5, z6, z7, 1
    token_minima z22, z4, z5, z6, z7, 2
    token_minima z23, z4, z5, z6, z7, 3
    ld1rqw  {z0.s}, all_words/z, [x_block]
    finish_token z24, z16, z0, 0
    finish_token z25, z17, z0, 1, , at_32
    finish_token z26, z18, z0, 2, , at_64
    finish_token z27, z19, z0, 3, , at_96
    ld1rqw  {z1.s}, all_words/z, [x_second]
    add     y_room, y_room, #4 * Y_BYTES
    finish_token z28, z20, z1, 0
    finish_token z29, z21, z1, 1, , at_32
    finish_token z30, z22, z1, 2, , at_64
    finish_token z31, z23, z1, 3, , at_96
    sub     y_room, y_room, #4 * Y_BYTES
    move_x  16
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    take_y
.endm

.macro prepare_q4k_quads
    prepare_q4k 1
.endm

func gemm_f32_q4kx8_q8kx4_sve, sve
    gemm_sve_tiles gemm_f32_q4kx8_q8kx4_neon_dotprod, prepare_q4k_quads, multiply_q4k_sve, \
                   COLS_K_LOG2, Q8KX4_BYTES, Q4K_SLICE, Q4K_SCRATCH
endfunc gemm_f32_q4kx8_q8kx4_sve
