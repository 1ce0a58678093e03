// Like gemm_prepare_neon.h, for Q2_K.
#ifndef INGOT_KERNELS_ARM64_GEMM_PREPARE_Q2K_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PREPARE_Q2K_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

#define Q2K_SLICE 2
#define Q2K_PREPARED (512 + 256 + 64)   // scales, minima as int16, d and dmin
#define Q2K_SCRATCH (Q2K_SLICE * (2048 + Q2K_PREPARED))

// Write the scales of two sub-blocks, the low nibbles, as int32; `scales` keeps the high nibbles.
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

// Prepare eight columns of each of four sub-blocks.
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

// Prepare the scales and minima of all blocks, then their weights.
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
