// Like gemm_prepare_neon.h, for Q3_K.
#ifndef INGOT_KERNELS_ARM64_GEMM_PREPARE_Q3K_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PREPARE_Q3K_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Make 4 times a weight from three bits at the top of a byte.
.macro finish_q3k weight
    and     \weight\().16b, \weight\().16b, v31.16b
    sshr    \weight\().16b, \weight\().16b, #3
.endm

// Make one register of columns for each of four sub-blocks, as 4 times the weights; the
// fourth result replaces `sign`. v28 shifts the signs of these 128 columns to bits 4 to 7.
.macro place_q3k two, sign, to0, to1, to2
    ushl    \sign\().16b, \sign\().16b, v28.16b
    shl     v24.16b, \two\().16b, #6
    shl     v25.16b, \two\().16b, #4
    shl     v26.16b, \two\().16b, #2
    shl     \to0\().16b, \sign\().16b, #3
    shl     \to1\().16b, \sign\().16b, #2
    shl     \to2\().16b, \sign\().16b, #1
    sri     \to0\().16b, v24.16b, #1
    sri     \to1\().16b, v25.16b, #1
    sri     \to2\().16b, v26.16b, #1
    sri     \sign\().16b, \two\().16b, #1
    finish_q3k \to0
    finish_q3k \to1
    finish_q3k \to2
    finish_q3k \sign
.endm

// Prepare eight columns of each of four sub-blocks.
.macro prepare_columns_q3k
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [x_block], #64
    place_q3k v0, v20, v8, v12, v16
    place_q3k v1, v21, v9, v13, v17
    place_q3k v2, v22, v10, v14, v18
    place_q3k v3, v23, v11, v15, v19
    st1     {v8.16b, v9.16b, v10.16b, v11.16b}, [w_block], step
    st1     {v12.16b, v13.16b, v14.16b, v15.16b}, [w_block], step
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [w_block], step
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [w_block], last_step
.endm

// Prepare the scales of all blocks, then their weights.
.macro prepare_q3k
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #K36_SLICE * K36_PREPARED
    mov     w_scale, factors
    mov     w_block, quants
    movi    v31.16b, #0xe0
    mov     step, #256
    mov     last_step, #64 - 3 * 256
    mov     blocks_left, slice
.Lblock\@:
    ld1     {v28.16b}, [weights], #16
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    widen_k36 v0, v1
    widen_k36 v2, v3
    widen_k36 v4, v5
    widen_k36 v6, v7
    st1     {v28.16b}, [w_scale], #16
    movi    v28.16b, #4
    add     other, weights, #Q3K_HIGH - Q3K_LOW
    mov     temp, #2
.Lhalf\@:
    mov     x_block, other
    prepare_columns_q3k
    prepare_columns_q3k
    prepare_columns_q3k
    prepare_columns_q3k
    movi    v28.16b, #0
    add     w_block, w_block, #3 * 256
    subs    temp, temp, #1
    b.ne    .Lhalf\@
    mov     weights, x_block
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

#endif
