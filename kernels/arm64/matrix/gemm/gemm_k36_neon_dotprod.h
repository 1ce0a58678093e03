// The tiles of the K36 gemms with the dot product. The types of this class differ only in how their
// bits are unpacked. The including kernels name the registers.
#ifndef INGOT_KERNELS_ARM64_GEMM_K36_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMM_K36_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Multiply 16 columns, with x in four registers; the first two registers then hold the scales.
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

// y of a token += sums * d, in two halves of 4 rows.
.macro add_token y_low, y_high, sum_low, sum_high, token
    scvtf   \sum_low\().4s, \sum_low\().4s, #2
    scvtf   \sum_high\().4s, \sum_high\().4s, #2
    fmul    v13.4s, v8.4s, v12.s[\token]
    fmul    v14.4s, v9.4s, v12.s[\token]
    fmla    \y_low\().4s, \sum_low\().4s, v13.4s
    fmla    \y_high\().4s, \sum_high\().4s, v14.4s
.endm

.macro multiply_k36
    locate_tile
    keep_tile
.Lsub_blocks\@:
    dot_16_columns v8, v9, v10, v11, mul
    dot_16_columns v12, v13, v14, v15, mla
.rept 7
    dot_16_columns v8, v9, v10, v11, mla
    dot_16_columns v12, v13, v14, v15, mla
.endr
    add     x_block, x_block, #Q8KX4_SCALE - Q8KX4_SUM // skip the sums
    ld1     {v10.8h}, [w_scale], #16
    ld1     {v12.4s}, [x_block], #16
    fcvtl   v8.4s, v10.4h
    fcvtl2  v9.4s, v10.8h
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [temp]
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    add_token v0, v1, v24, v25, 0
    add_token v2, v3, v26, v27, 1
    add_token v4, v5, v28, v29, 2
    add_token v6, v7, v30, v31, 3
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [temp]
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    subs    blocks_left, blocks_left, #1
    b.ne    .Lsub_blocks\@
    take_tile
.endm

#endif
