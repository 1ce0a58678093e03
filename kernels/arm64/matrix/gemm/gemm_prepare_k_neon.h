// As gemm_prepare_neon.h, of the K formats whose weights are joined from planes of bits: Q5_K, Q3_K and
// Q2_K.
#ifndef INGOT_KERNELS_ARM64_GEMM_PREPARE_K_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PREPARE_K_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// ---- Q5_K, whose scales and slices are those of Q4_K ------------------

// Low nibbles and fifth bits of a register to `low`, the others in the place of `bits`.
.macro join_fifth low, quad, bits
    ushl    \low\().16b, \bits\().16b, v13.16b
    ushl    \bits\().16b, \bits\().16b, v14.16b
    bit     \low\().16b, \quad\().16b, v15.16b
    sri     \bits\().16b, \quad\().16b, #4
    and     \low\().16b, \low\().16b, v12.16b
    and     \bits\().16b, \bits\().16b, v12.16b
.endm

// Half of 64 columns.
.macro prepare_five_bits
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    ld1     {v24.16b, v25.16b, v26.16b, v27.16b}, [other], #64
    ld1     {v28.16b, v29.16b, v30.16b, v31.16b}, [other], #64
    join_fifth v0, v16, v24
    join_fifth v1, v17, v25
    join_fifth v2, v18, v26
    join_fifth v3, v19, v27
    st1     {v0.16b, v1.16b, v2.16b, v3.16b}, [w_block], #64
    join_fifth v4, v20, v28
    join_fifth v5, v21, v29
    join_fifth v6, v22, v30
    join_fifth v7, v23, v31
    st1     {v4.16b, v5.16b, v6.16b, v7.16b}, [w_block], #64
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [x_block], #64
    st1     {v28.16b, v29.16b, v30.16b, v31.16b}, [x_block], #64
.endm

// The scales of all blocks, then their weights.
.macro prepare_q5k quads=0
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #Q4K_SLICE * Q4K_PREPARED
    mov     w_scale, factors
    mov     w_block, quants
    movi    v15.16b, #15
    movi    v12.16b, #31
    mov     blocks_left, slice
.Lblock\@:
    prepare_scales_q4k \quads
    movi    v13.16b, #4                 // a sub-block's fifth bits to bit 4, of low nibbles
    movi    v14.16b, #3                 // and of high ones
    movi    v11.16b, #2
    mov     temp, #4
.Lsub_blocks\@:
    add     x_block, w_block, #256      // of the high nibbles
    add     other, weights, temp, lsl #8 // fifth bits: after the nibbles
    prepare_five_bits
    prepare_five_bits
    add     w_block, w_block, #256
    sub     v13.16b, v13.16b, v11.16b
    sub     v14.16b, v14.16b, v11.16b
    subs    temp, temp, #1
    b.ne    .Lsub_blocks\@
    add     weights, weights, #Q5K_BYTES - Q5K_HIGH
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

// ---- Q3_K, whose slices are those of Q6_K -----------------------------

// Three bits at the top to 4 times a weight.
.macro finish_q3k weight
    and     \weight\().16b, \weight\().16b, v31.16b
    sshr    \weight\().16b, \weight\().16b, #3
.endm

// One register of columns of four sub-blocks, 4 times the weights; the fourth result replaces
// `sign`. v28 shifts the signs of these 128 columns to bits 4 to 7.
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

// Eight columns of each of four sub-blocks.
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

// The scales of all blocks, then their weights.
.macro prepare_q3k
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #Q6K_SLICE * Q6K_PREPARED
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
    widen_q6k v0, v1
    widen_q6k v2, v3
    widen_q6k v4, v5
    widen_q6k v6, v7
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

// ---- Q2_K ------------------------------------------------------------

#define Q2K_SLICE 2
#define Q2K_PREPARED (512 + 256 + 64)   // scales, minima as int16, d and dmin
#define Q2K_SCRATCH (Q2K_SLICE * (2048 + Q2K_PREPARED))

// Two sub-blocks' scales, the low nibbles, as int32; `scales` keeps the high ones.
.macro widen_q2k scales
    and     v16.16b, \scales\().16b, v31.16b
    ushr    \scales\().16b, \scales\().16b, #4
    ushll   v17.8h, v16.8b, #0
    ushll2  v18.8h, v16.16b, #0
    ushll   v20.4s, v17.4h, #0
    ushll2  v21.4s, v17.8h, #0
    ushll   v22.4s, v18.4h, #0
    ushll2  v23.4s, v18.8h, #0
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [w_scale], #64
.endm

.macro widen_minima_q2k first, second
    ushll   v16.8h, \first\().8b, #0
    ushll2  v17.8h, \first\().16b, #0
    ushll   v18.8h, \second\().8b, #0
    ushll2  v19.8h, \second\().16b, #0
    st1     {v16.8h, v17.8h, v18.8h, v19.8h}, [w_scale], #64
.endm

// Eight columns of each of four sub-blocks.
.macro prepare_columns_q2k
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
.irp shifted, 0, 2, 4, 6
.if \shifted
    ushr    v16.16b, v20.16b, #\shifted
    ushr    v17.16b, v21.16b, #\shifted
    ushr    v18.16b, v22.16b, #\shifted
    ushr    v19.16b, v23.16b, #\shifted
    and     v16.16b, v16.16b, v30.16b
    and     v17.16b, v17.16b, v30.16b
    and     v18.16b, v18.16b, v30.16b
    and     v19.16b, v19.16b, v30.16b
.else
    and     v16.16b, v20.16b, v30.16b
    and     v17.16b, v21.16b, v30.16b
    and     v18.16b, v22.16b, v30.16b
    and     v19.16b, v23.16b, v30.16b
.endif
.if \shifted == 6
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [w_block], last_step
.else
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [w_block], step
.endif
.endr
.endm

// The scales and minima of all blocks, then their weights.
.macro prepare_q2k
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #Q2K_SLICE * Q2K_PREPARED
    mov     w_scale, factors
    mov     w_block, quants
    movi    v30.16b, #3
    movi    v31.16b, #15
    mov     step, #256
    mov     last_step, #64 - 3 * 256
    mov     blocks_left, slice
.Lblock\@:
    ld1     {v28.8h, v29.8h}, [weights], #32
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
.irp scales_q2k, v0, v1, v2, v3, v4, v5, v6, v7
    widen_q2k \scales_q2k
.endr
    widen_minima_q2k v0, v1
    widen_minima_q2k v2, v3
    widen_minima_q2k v4, v5
    widen_minima_q2k v6, v7
    fcvtl   v24.4s, v28.4h
    fcvtl2  v25.4s, v28.8h
    fcvtl   v26.4s, v29.4h
    fcvtl2  v27.4s, v29.8h
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [w_scale], #64
    mov     temp, #2
.Lhalf\@:
    prepare_columns_q2k
    prepare_columns_q2k
    prepare_columns_q2k
    prepare_columns_q2k
    add     w_block, w_block, #3 * 256
    subs    temp, temp, #1
    b.ne    .Lhalf\@
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

#endif
