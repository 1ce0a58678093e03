// Like gemm_prepare_neon.h, for Q5_K.
#ifndef INGOT_KERNELS_ARM64_GEMM_PREPARE_Q5K_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PREPARE_Q5K_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Low nibbles with their fifth bits go to `low`; high nibbles with theirs replace `bits`.
.macro join_fifth low, quad, bits
    ushl    \low\().16b, \bits\().16b, v13.16b
    ushl    \bits\().16b, \bits\().16b, v14.16b
    bit     \low\().16b, \quad\().16b, v15.16b
    sri     \bits\().16b, \quad\().16b, #4
    and     \low\().16b, \low\().16b, v12.16b
    and     \bits\().16b, \bits\().16b, v12.16b
.endm

// Prepare one half of 64 columns.
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

// Prepare the scales of all blocks, then their weights.
.macro prepare_q5k quads=0
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #K45_SLICE * K45_PREPARED
    mov     w_scale, factors
    mov     w_block, quants
    movi    v15.16b, #15
    movi    v12.16b, #31
    mov     blocks_left, slice
.Lblock\@:
    prepare_scales_k45 \quads
    movi    v13.16b, #4                 // shift of low nibbles' fifth bits to bit 4
    movi    v14.16b, #3                 // shift of high nibbles' fifth bits
    movi    v11.16b, #2
    mov     temp, #4
.Lsub_blocks\@:
    add     x_block, w_block, #256      // of the high nibbles
    add     other, weights, temp, lsl #8 // the fifth bits lie after the nibbles
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

#endif
