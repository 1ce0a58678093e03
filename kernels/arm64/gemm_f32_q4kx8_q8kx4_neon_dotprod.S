// void gemm_f32_q4kx8_q8kx4_neon_dotprod(float *y, const void *w, const struct block_q8kx4 *x,
//                                        const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_dotprod.h
// v24-v31 integers of 8 rows and 4 tokens over 256 columns, v16-v23 over 32; v0-v7 weights,
// v8-v15 x; y is in the frame meanwhile. At the end of 256 columns v16-v23 collect the minima.
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// Prepared are nibbles as int8, scales as int32, minima as int16, d and dmin as f32. A sub-block of
// 8 rows takes a token 16 sdot and 2 mla; its minima 2 smlal by the sum of x, which is of 32 columns
// after an addition. 24.2 instructions in all, the 1/8 of what comes once in 256 columns included:
// aims at 11 cycles where there are two vector pipes (Cortex-A76).
#include "kernels/arm64/gemm_dotprod.h"

#define SLICE_BLOCKS 3
#define SCALES_BYTES (256 + 128 + 64)   // scales, minima, d and dmin of a block
#define SCRATCH_BYTES (SLICE_BLOCKS * (2048 + SCALES_BYTES))

// Two sub-blocks' 6-bit scales, the low bits of `packed`, as int32.
.macro widen_scales packed
    and     v16.16b, \packed\().16b, v31.16b
    ushll   v17.8h, v16.8b, #0
    ushll2  v18.8h, v16.16b, #0
    ushll   v20.4s, v17.4h, #0
    ushll2  v21.4s, v17.8h, #0
    ushll   v22.4s, v18.4h, #0
    ushll2  v23.4s, v18.8h, #0
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [w_scale], #64
.endm

.macro prepare_scales
    ld1     {v0.8h, v1.8h}, [weights], #32
    ld1     {v2.16b, v3.16b, v4.16b, v5.16b}, [weights], #64
    ld1     {v6.16b, v7.16b}, [weights], #32
    movi    v31.16b, #63
    widen_scales v2
    widen_scales v3
    widen_scales v4
    widen_scales v5
    ushr    v2.16b, v2.16b, #6          // low bits of the minima, two sub-blocks in each
    ushr    v3.16b, v3.16b, #6
    ushr    v4.16b, v4.16b, #6
    ushr    v5.16b, v5.16b, #6
    ushr    v16.16b, v6.16b, #4
    ushr    v17.16b, v7.16b, #4
    sli     v2.16b, v6.16b, #2
    sli     v3.16b, v7.16b, #2
    sli     v4.16b, v16.16b, #2
    sli     v5.16b, v17.16b, #2
    and     v2.16b, v2.16b, v31.16b
    and     v3.16b, v3.16b, v31.16b
    ushll   v16.8h, v2.8b, #0
    ushll2  v17.8h, v2.16b, #0
    ushll   v18.8h, v3.8b, #0
    ushll2  v19.8h, v3.16b, #0
    ushll   v20.8h, v4.8b, #0
    ushll2  v21.8h, v4.16b, #0
    ushll   v22.8h, v5.8b, #0
    ushll2  v23.8h, v5.16b, #0
    st1     {v16.8h, v17.8h, v18.8h, v19.8h}, [w_scale], #64
    fcvtl   v24.4s, v0.4h
    fcvtl2  v25.4s, v0.8h
    st1     {v20.8h, v21.8h, v22.8h, v23.8h}, [w_scale], #64
    fcvtl   v26.4s, v1.4h
    fcvtl2  v27.4s, v1.8h
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [w_scale], #64
.endm

// Low nibbles of a register to `low`; the register keeps the high ones.
.macro part low, quad
    and     \low\().16b, \quad\().16b, v15.16b
    ushr    \quad\().16b, \quad\().16b, #4
.endm

// Half of 64 columns, of which the low nibbles are the first 32.
.macro prepare_nibbles
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    part    v0, v16
    part    v1, v17
    part    v2, v18
    part    v3, v19
    st1     {v0.16b, v1.16b, v2.16b, v3.16b}, [w_block], #64
    part    v4, v20
    part    v5, v21
    part    v6, v22
    part    v7, v23
    st1     {v4.16b, v5.16b, v6.16b, v7.16b}, [w_block], #64
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [x_block], #64
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [x_block], #64
.endm

// The scales of all blocks, then their nibbles.
.macro prepare_q4k
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #SLICE_BLOCKS * SCALES_BYTES
    mov     w_scale, factors
    mov     w_block, quants
    movi    v15.16b, #15
    mov     count, slice
301:
    prepare_scales
    mov     temp, #4
302:
    add     x_block, w_block, #256      // of the high nibbles
    prepare_nibbles
    prepare_nibbles
    add     w_block, w_block, #256
    subs    temp, temp, #1
    b.ne    302b
    subs    count, count, #1
    b.ne    301b
.endm

// v24-v31 (= or) += v16-v23 by the scales of the rows.
.macro add_sub_block multiply
    ld1     {v8.4s, v9.4s}, [w_scale], #32
    \multiply v24.4s, v16.4s, v8.4s
    \multiply v25.4s, v17.4s, v9.4s
    \multiply v26.4s, v18.4s, v8.4s
    \multiply v27.4s, v19.4s, v9.4s
    \multiply v28.4s, v20.4s, v8.4s
    \multiply v29.4s, v21.4s, v9.4s
    \multiply v30.4s, v22.4s, v8.4s
    \multiply v31.4s, v23.4s, v9.4s
.endm

// One sub-block's minima by the sums of 4 tokens, elements `first` on of sums.
.macro minima mins, sums, first, multiply
    \multiply   v16.4s, \mins\().4h, \sums\().h[\first]
    \multiply\()2 v17.4s, \mins\().8h, \sums\().h[\first]
    \multiply   v18.4s, \mins\().4h, \sums\().h[\first + 1]
    \multiply\()2 v19.4s, \mins\().8h, \sums\().h[\first + 1]
    \multiply   v20.4s, \mins\().4h, \sums\().h[\first + 2]
    \multiply\()2 v21.4s, \mins\().8h, \sums\().h[\first + 2]
    \multiply   v22.4s, \mins\().4h, \sums\().h[\first + 3]
    \multiply\()2 v23.4s, \mins\().8h, \sums\().h[\first + 3]
.endm

.macro add_minima
    ld4     {v0.2d, v1.2d, v2.2d, v3.2d}, [x_block], #64    // sums of 16: 0 and 4, 1 and 5, ...
    ld4     {v4.2d, v5.2d, v6.2d, v7.2d}, [x_block], #64    // 8 and 12, ...
    ld1     {v8.8h, v9.8h, v10.8h, v11.8h}, [w_scale], #64
    ld1     {v12.8h, v13.8h, v14.8h, v15.8h}, [w_scale], #64
    add     v0.8h, v0.8h, v1.8h         // sub-blocks 0 and 2
    add     v2.8h, v2.8h, v3.8h         // 1 and 3
    add     v4.8h, v4.8h, v5.8h         // 4 and 6
    add     v6.8h, v6.8h, v7.8h         // 5 and 7
    minima  v8, v0, 0, smull
    minima  v9, v2, 0, smlal
    minima  v10, v0, 4, smlal
    minima  v11, v2, 4, smlal
    minima  v12, v4, 0, smlal
    minima  v13, v6, 0, smlal
    minima  v14, v4, 4, smlal
    minima  v15, v6, 4, smlal
.endm

// y of a token += sums times d - minima times dmin, of 4 rows each.
.macro add_token y_low, y_high, sum_low, sum_high, min_low, min_high, token
    scvtf   \sum_low\().4s, \sum_low\().4s
    scvtf   \sum_high\().4s, \sum_high\().4s
    fmul    v13.4s, v8.4s, v12.s[\token]
    fmul    v14.4s, v9.4s, v12.s[\token]
    scvtf   \min_low\().4s, \min_low\().4s
    scvtf   \min_high\().4s, \min_high\().4s
    fmla    \y_low\().4s, \sum_low\().4s, v13.4s
    fmla    \y_high\().4s, \sum_high\().4s, v14.4s
    fmul    \sum_low\().4s, v10.4s, v12.s[\token]
    fmul    \sum_high\().4s, v11.4s, v12.s[\token]
    fmls    \y_low\().4s, \min_low\().4s, \sum_low\().4s
    fmls    \y_high\().4s, \min_high\().4s, \sum_high\().4s
.endm

.macro multiply_q4k
    mov     w_block, quants
    mov     w_scale, factors
    add     temp, sp, #FRAME_TILE
    add     step, sp, #FRAME_TILE + 64
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [temp]
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [step]
401:
    dot_32_columns zeros, #64
    add_sub_block mul
.rept 7
    dot_32_columns zeros, #64
    add_sub_block mla
.endr
    add_minima
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [w_scale], #64
    ld1     {v12.4s}, [x_block], #16
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [temp]
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    add_token v0, v1, v24, v25, v16, v17, 0
    add_token v2, v3, v26, v27, v18, v19, 1
    add_token v4, v5, v28, v29, v20, v21, 2
    add_token v6, v7, v30, v31, v22, v23, 3
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [temp]
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    subs    count, count, #1
    b.ne    401b
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [temp]
    ld1     {v28.4s, v29.4s, v30.4s, v31.4s}, [step]
.endm

func gemm_f32_q4kx8_q8kx4_neon_dotprod, dotprod
    gemm_tiles prepare_q4k, multiply_q4k, 8, 1168, SLICE_BLOCKS, SCRATCH_BYTES
endfunc gemm_f32_q4kx8_q8kx4_neon_dotprod
