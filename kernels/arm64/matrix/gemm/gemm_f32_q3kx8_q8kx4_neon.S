// void gemm_f32_q3kx8_q8kx4_neon(float *y, const void *w, const struct block_q8kx4 *x,
//                                const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_k16_neon.h. Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
// 5.0 KiB of stack.
#include "kernels/arm64/matrix/gemm/gemm_k16_neon.h"

// Scales of two sub-blocks to tile_scales as int32
.macro store_scales from
    sxtl    v17.8h, \from\().8b
    sxtl2   v19.8h, \from\().16b
    sxtl    v16.4s, v17.4h
    sxtl2   v17.4s, v17.8h
    sxtl    v18.4s, v19.4h
    sxtl2   v19.4s, v19.8h
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_scales], #64
.endm

// Sub-block s of four: the sign to the top, the two bits below it, and all down again.
.macro store_weights s
    shl     v20.16b, v0.16b, #6 - 2 * \s
    shl     v21.16b, v1.16b, #6 - 2 * \s
    shl     v22.16b, v2.16b, #6 - 2 * \s
    shl     v23.16b, v3.16b, #6 - 2 * \s
    shl     v24.16b, v4.16b, #3 - \s
    shl     v25.16b, v5.16b, #3 - \s
    shl     v26.16b, v6.16b, #3 - \s
    shl     v27.16b, v7.16b, #3 - \s
    sri     v24.16b, v20.16b, #1
    sri     v25.16b, v21.16b, #1
    sri     v26.16b, v22.16b, #1
    sri     v27.16b, v23.16b, #1
    sshr    v24.16b, v24.16b, #5
    sshr    v25.16b, v25.16b, #5
    sshr    v26.16b, v26.16b, #5
    sshr    v27.16b, v27.16b, #5
    add     store, tile_weights, #256 * \s
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [store]
.endm

.macro decode
    add     tile_scales, sp, #SCRATCH_SCALES
    ld1     {v0.8h}, [weights], #16
    store_d
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
.irp scales, v0, v1, v2, v3, v4, v5, v6, v7
    store_scales \scales
.endr
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    add     high, weights, #Q3K_HIGH - Q3K_LOW
    movi    v31.16b, #4                 // of the signs of these 128 columns, to bits 4 to 7
    mov     count, #8
.Lcolumns\@:
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [high], #64
    sub     count, count, #1
    ushl    v4.16b, v4.16b, v31.16b
    ushl    v5.16b, v5.16b, v31.16b
    ushl    v6.16b, v6.16b, v31.16b
    ushl    v7.16b, v7.16b, v31.16b
    store_weights 0
    store_weights 1
    store_weights 2
    store_weights 3
    add     tile_weights, tile_weights, #64
    tst     count, #3
    b.ne    .Lcolumns\@
    movi    v31.16b, #0
    add     tile_weights, tile_weights, #768
    sub     high, high, #256
    cbnz    count, .Lcolumns\@
    add     weights, weights, #256      // the signs
.endm

func gemm_f32_q3kx8_q8kx4_neon
    gemm_begin SCRATCH_BYTES, COLS_K_LOG2, Q8KX4_BYTES
    gemm_loops decode, tile_without_mins, Q8KX4_BYTES, 1, slice_end
    gemm_end SCRATCH_BYTES
endfunc gemm_f32_q3kx8_q8kx4_neon
