// Like gemm_prepare_neon.h, for Q4_K.
#ifndef INGOT_KERNELS_ARM64_GEMM_PREPARE_Q4K_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PREPARE_Q4K_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Copy the low nibbles of a register to `low`; the register keeps the high nibbles.
.macro part low, quad
    and     \low\().16b, \quad\().16b, v15.16b
    ushr    \quad\().16b, \quad\().16b, #4
.endm

// Prepare one half of 64 columns; its low nibbles are the first 32 columns.
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

// Prepare the scales of all blocks, then their nibbles.
.macro prepare_q4k quads=0
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #K45_SLICE * K45_PREPARED
    mov     w_scale, factors
    mov     w_block, quants
    movi    v15.16b, #15
    mov     blocks_left, slice
.Lblock\@:
    prepare_scales_k45 \quads
    mov     temp, #4
.Lsub_blocks\@:
    add     x_block, w_block, #256      // of the high nibbles
    prepare_nibbles
    prepare_nibbles
    add     w_block, w_block, #256
    subs    temp, temp, #1
    b.ne    .Lsub_blocks\@
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

#endif
