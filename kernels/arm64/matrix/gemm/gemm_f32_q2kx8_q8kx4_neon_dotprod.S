// void gemm_f32_q2kx8_q8kx4_neon_dotprod(float *y, const void *w, const struct block_q8kx4 *x,
//                                        const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 integers of 8 rows and 4 tokens over 256 columns, v16-v23 over 16, at the end the minima;
// v0-v7 weights, v8-v15 x; y is in the frame meanwhile.
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// As gemm_f32_q4kx8_q8kx4_neon_dotprod, in sub-blocks of 16 columns with a scale and a minimum each.
#include "kernels/arm64/matrix/gemm/gemm_q4k_neon_dotprod.h"
#include "kernels/arm64/matrix/gemm/gemm_prepare_k_neon.h"

// 16 columns with x in four registers, of which the first two then take the scales.
.macro dot_16_columns x0, x1, x2, x3, multiply
    begin_sums zeros
    ld1     {\x0\().16b, \x1\().16b, \x2\().16b, \x3\().16b}, [x_block], #64
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [w_block], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [w_block], #64
    dot_chunk v0, v1, \x0
    dot_chunk v2, v3, \x1
    ld1     {\x0\().4s, \x1\().4s}, [w_scale], #32
    dot_chunk v4, v5, \x2
    dot_chunk v6, v7, \x3
    scale_sums \multiply, \x0, \x1
.endm

// Minima of eight sub-blocks by sums of x, two sub-blocks in each register.
.macro eight_minima sums0, sums1, sums2, sums3, multiply
    ld1     {v8.8h, v9.8h, v10.8h, v11.8h}, [w_scale], #64
    ld1     {v12.8h, v13.8h, v14.8h, v15.8h}, [w_scale], #64
    minima  v8, \sums0, 0, \multiply
    minima  v9, \sums0, 4, smlal
    minima  v10, \sums1, 0, smlal
    minima  v11, \sums1, 4, smlal
    minima  v12, \sums2, 0, smlal
    minima  v13, \sums2, 4, smlal
    minima  v14, \sums3, 0, smlal
    minima  v15, \sums3, 4, smlal
.endm

.macro multiply_q2k
    locate_tile
    keep_tile
.Lblock\@:
    dot_16_columns v8, v9, v10, v11, mul
    dot_16_columns v12, v13, v14, v15, mla
.rept 7
    dot_16_columns v8, v9, v10, v11, mla
    dot_16_columns v12, v13, v14, v15, mla
.endr
    ld1     {v0.8h, v1.8h, v2.8h, v3.8h}, [x_block], #64
    ld1     {v4.8h, v5.8h, v6.8h, v7.8h}, [x_block], #64
    eight_minima v0, v1, v2, v3, smull
    eight_minima v4, v5, v6, v7, smlal
    add_block
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    take_tile
.endm

func gemm_f32_q2kx8_q8kx4_neon_dotprod, dotprod
    gemm_tiles prepare_q2k, multiply_q2k, COLS_K_LOG2, Q8KX4_BYTES, Q2K_SLICE, Q2K_SCRATCH
endfunc gemm_f32_q2kx8_q8kx4_neon_dotprod
