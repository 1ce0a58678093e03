// void gemm_f32_q6kx8_q8kx4_neon_i8mm(float *y, const void *w, const struct block_q8kx4 *x,
//                                     const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 integers of 8 rows and 4 tokens over 256 columns, v16-v23 over 16; v0-v7 weights,
// v8-v15 x; y is in the frame meanwhile
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved.
//
// Weights are 4 (q - 32), as with the dot product. 32 columns of 8 rows take a token 8 smmla, 4
// mla, 2 zip and 18 instructions in all: 6.8 cycles in the model of Neoverse V1 (llvm-mca 19).
#include "kernels/arm64/gemm_neon_i8mm.h"

.macro prepare_q6k_pairs
    prepare_q6k
    pair_quants 5
.endm

// y of a pair of tokens, v4-v7, += totals times d of the rows, v0-v3, by that of x.
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

.macro multiply_q6k_pairs
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
    add     x_block, x_block, #Q8KX4_SCALE - Q8KX4_SUM // over the sums
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

func gemm_f32_q6kx8_q8kx4_neon_i8mm, i8mm
    gemm_tiles prepare_q6k_pairs, multiply_q6k_pairs, COLS_K_LOG2, Q8KX4_BYTES, Q6K_SLICE, \
               Q6K_SCRATCH
endfunc gemm_f32_q6kx8_q8kx4_neon_i8mm
