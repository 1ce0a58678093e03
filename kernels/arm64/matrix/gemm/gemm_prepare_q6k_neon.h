// Like gemm_prepare_neon.h, for Q6_K.
#ifndef INGOT_KERNELS_ARM64_GEMM_PREPARE_Q6K_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PREPARE_Q6K_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Prepare eight columns of each of the four sub-blocks that share the high bits. v0-v3: low
// bits of the first two sub-blocks; v4-v7: of the others; v20-v23: high bits of all four.
.macro prepare_columns
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [x_block], #64
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [other], #64
    place   v20, v0, v4, v8, v12, v16
    place   v21, v1, v5, v9, v13, v17
    place   v22, v2, v6, v10, v14, v18
    place   v23, v3, v7, v11, v15, v19
    st1     {v8.16b, v9.16b, v10.16b, v11.16b}, [w_block], step
    st1     {v12.16b, v13.16b, v14.16b, v15.16b}, [w_block], step
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [w_block], step
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [w_block], last_step
.endm

// Make one register for each of these sub-blocks; the fourth result replaces `high`.
.macro place high, low01, low23, to0, to1, to2
    eor     \high\().16b, \high\().16b, v30.16b
    shl     \to0\().16b, \high\().16b, #6
    shl     \to1\().16b, \high\().16b, #4
    shl     \to2\().16b, \high\().16b, #2
    shl     v24.16b, \low01\().16b, #4
    and     v25.16b, \low01\().16b, v31.16b
    shl     v26.16b, \low23\().16b, #4
    and     v27.16b, \low23\().16b, v31.16b
    sri     \to0\().16b, v24.16b, #2
    sri     \to1\().16b, v25.16b, #2
    sri     \to2\().16b, v26.16b, #2
    sri     \high\().16b, v27.16b, #2
.endm

// Prepare the scales of all blocks, then their weights.
.macro prepare_q6k
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #K36_SLICE * K36_PREPARED
    mov     w_scale, factors
    mov     w_block, quants
    movi    v30.16b, #0xaa
    movi    v31.16b, #0xf0
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
    add     x_block, weights, #Q6K_HIGH - Q6K_LOW     // high bits
    mov     temp, #2
.Lhalf\@:
    add     other, weights, #256       // low bits of the third and fourth sub-block
    prepare_columns
    prepare_columns
    prepare_columns
    prepare_columns
    add     weights, weights, #256
    add     w_block, w_block, #3 * 256
    subs    temp, temp, #1
    b.ne    .Lhalf\@
    mov     weights, x_block
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

#endif
