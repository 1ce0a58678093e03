// void gemm_f32_q6kx8_q8kx4_sve(float *y, const void *w, const struct block_q8kx4 *x,
//                               const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_sve.h
// z24-z31 integers of 8 rows and 8 tokens over 256 columns, z16-z23 over 16; z8-z12 weights
// and scales, z0-z7 x; z15 zero; y is in the frame meanwhile
// Clobbers x0-x17, z0-z7, z16-z31, the high parts of z8-z15, p0-p2; x19-x26 and d8-d15 are saved.
//
// As the NEON kernel: weights are 4 (q - 32), and the integers, as floats, are divided by 4. 8
// rows x 32 columns take a token 16 instructions at 256 bits: 7.2 cycles in the model of Neoverse
// V1 (llvm-mca 19).
#include "kernels/arm64/matrix/gemm/gemm_sve.h"

#define parts_left w_step

// y of a token, at y_room + place, += a quarter of total times d (z11). z14 is 1/4.
.macro finish_token total, own, token, place:vararg
    ld1b    {z2.b}, all_bytes/z, [y_room\place]
    fmul    z3.s, z11.s, \own\().s[\token]
    scvtf   \total\().s, all_words/m, \total\().s
    fmul    \total\().s, \total\().s, z14.s
    fmla    z2.s, all_words/m, \total\().s, z3.s
    st1b    {z2.b}, all_bytes, [y_room\place]
.endm

// Two sub-blocks.
.macro sub_blocks
    begin_sums_sve z15
    dot_16_columns_sve 0, #128
    add_sub_block_sve
    begin_sums_sve z15
    dot_16_columns_sve 16, #128
    move_x  128
    add_sub_block_sve
.endm

.macro multiply_q6k_sve
    keep_y
    dup     z15.s, #0
    fmov    z14.s, #0.25
.Lblock\@:
    clear_eight z24, z25, z26, z27, z28, z29, z30, z31
    mov     parts_left, #8
.Lsub_blocks\@:
    sub_blocks
    subs    parts_left, parts_left, #1
    b.ne    .Lsub_blocks\@
    move_x  128 + 16             // over the sums, to the end
    ld1h    {z11.s}, all_words/z, [w_scale]
    add     w_scale, w_scale, #16
    fcvt    z11.s, all_words/m, z11.h
    ld1rqw  {z0.s}, all_words/z, [x_block, #-16]
    finish_token z24, z0, 0
    finish_token z25, z0, 1, , at_32
    finish_token z26, z0, 2, , at_64
    finish_token z27, z0, 3, , at_96
    ld1rqw  {z1.s}, all_words/z, [x_second, #-16]
    add     y_room, y_room, #4 * Y_BYTES
    finish_token z28, z1, 0
    finish_token z29, z1, 1, , at_32
    finish_token z30, z1, 2, , at_64
    finish_token z31, z1, 3, , at_96
    sub     y_room, y_room, #4 * Y_BYTES
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    take_y
.endm

func gemm_f32_q6kx8_q8kx4_sve, sve
    gemm_sve_tiles gemm_f32_q6kx8_q8kx4_neon_dotprod, prepare_q6k, multiply_q6k_sve, COLS_K_LOG2, \
                   Q8KX4_BYTES, Q6K_SLICE, Q6K_SCRATCH
endfunc gemm_f32_q6kx8_q8kx4_sve
