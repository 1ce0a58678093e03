// A tile of Q4_1 and Q5_1 with int8 matrix multiplication: pairs_block of gemm_neon_i8mm.h, then
// the minima.
#ifndef INGOT_KERNELS_ARM64_GEMM_MINS_NEON_I8MM_H
#define INGOT_KERNELS_ARM64_GEMM_MINS_NEON_I8MM_H

#include "kernels/arm64/matrix/gemm/gemm_neon_i8mm.h"
#include "kernels/arm64/matrix/gemm/gemm_prepare_mins_neon.h"

.macro pairs_block_with_mins
    begin_sums seeds
    pairs_16_columns
    pairs_16_columns
    mov     temp, x_block
    ld1     {v5.4s}, [x_block], step
    add_pairs
    ld1     {v11.4s, v12.4s}, [temp]
    ld4r    {v0.2d, v1.2d, v2.2d, v3.2d}, [w_scale], #PREPARED_MINS // minima of a pair of rows, each twice
    scale_token_sums
    zip1    v6.4s, v12.4s, v12.4s
    zip2    v7.4s, v12.4s, v12.4s
    fmla    v24.4s, v0.4s, v6.4s
    fmla    v25.4s, v1.4s, v6.4s
    fmla    v26.4s, v2.4s, v6.4s
    fmla    v27.4s, v3.4s, v6.4s
    fmla    v28.4s, v0.4s, v7.4s
    fmla    v29.4s, v1.4s, v7.4s
    fmla    v30.4s, v2.4s, v7.4s
    fmla    v31.4s, v3.4s, v7.4s
.endm

.macro multiply_pairs_with_mins
    rows_to_pairs
.Lblock\@:
    pairs_block_with_mins
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    pairs_to_rows
.endm

#endif
