// The tiles of the K36 gemms with matrix instructions. The types of this class differ only in how
// their bits are unpacked. The including kernels name the registers.
#ifndef INGOT_KERNELS_ARM64_GEMM_K36_NEON_I8MM_H
#define INGOT_KERNELS_ARM64_GEMM_K36_NEON_I8MM_H

#include "kernels/arm64/matrix/gemm/gemm_neon_i8mm.h"

// y of a pair of tokens, v4-v7, += totals * d of the rows, v0-v3, * d of x.
.macro add_pair own, t0, t1, t2, t3
    scvtf   \t0\().4s, \t0\().4s, #2
    scvtf   \t1\().4s, \t1\().4s, #2
    scvtf   \t2\().4s, \t2\().4s, #2
    scvtf   \t3\().4s, \t3\().4s, #2
    fmul    v16.4s, v0.4s, \own\().4s
    fmul    v17.4s, v1.4s, \own\().4s
    fmul    v18.4s, v2.4s, \own\().4s
    fmul    v19.4s, v3.4s, \own\().4s
    fmla    v4.4s, \t0\().4s, v16.4s
    fmla    v5.4s, \t1\().4s, v17.4s
    fmla    v6.4s, \t2\().4s, v18.4s
    fmla    v7.4s, \t3\().4s, v19.4s
.endm

.macro sub_block
    begin_sums zeros
    pairs_16_columns
    add_sub_block_pairs
.endm

.macro multiply_k36_pairs
    rows_to_pairs
    locate_tile
    keep_tile
.Lblock\@:
    clear_tile
    mov     last_step, #4
.Lsub_blocks\@:
.rept 4
    sub_block
.endr
    subs    last_step, last_step, #1
    b.ne    .Lsub_blocks\@
    add     x_block, x_block, #Q8KX4_SCALE - Q8KX4_SUM // skip the sums
    ld1     {v10.8h}, [w_scale], #16
    ld1     {v12.4s}, [x_block], #16
    fcvtl   v8.4s, v10.4h
    fcvtl2  v9.4s, v10.8h
    zip1    v0.2d, v8.2d, v8.2d
    zip2    v1.2d, v8.2d, v8.2d
    zip1    v2.2d, v9.2d, v9.2d
    zip2    v3.2d, v9.2d, v9.2d
    zip1    v13.4s, v12.4s, v12.4s
    zip2    v14.4s, v12.4s, v12.4s
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [temp]
    add_pair v13, v24, v25, v26, v27
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [temp]
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    add_pair v14, v28, v29, v30, v31
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    take_tile
    pairs_to_rows
.endm

#endif
