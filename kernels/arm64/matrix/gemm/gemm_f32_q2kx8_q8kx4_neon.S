// void gemm_f32_q2kx8_q8kx4_neon(float *y, const void *w, const struct block_q8kx4 *x,
//                                const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_k16_neon.h. Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
// 5.0 KiB of stack.
#include "kernels/arm64/matrix/gemm/gemm_k16_neon.h"

// Scales of two sub-blocks, low nibbles, to tile_scales as int32; `from` keeps the high ones.
.macro store_scales from
    and     v16.16b, \from\().16b, v31.16b
    ushr    \from\().16b, \from\().16b, #4
    uxtl    v17.8h, v16.8b
    uxtl2   v19.8h, v16.16b
    uxtl    v16.4s, v17.4h
    uxtl2   v17.4s, v17.8h
    uxtl    v18.4s, v19.4h
    uxtl2   v19.4s, v19.8h
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_scales], #64
.endm

.macro store_mins first, second
    uxtl    v16.8h, \first\().8b
    uxtl2   v17.8h, \first\().16b
    uxtl    v18.8h, \second\().8b
    uxtl2   v19.8h, \second\().16b
    st1     {v16.8h, v17.8h, v18.8h, v19.8h}, [tile_scales], #64
.endm

// v24-v27 to bytes after tile_weights
.macro store_weights s
    add     store, tile_weights, #256 * \s
    and     v24.16b, v24.16b, v30.16b
    and     v25.16b, v25.16b, v30.16b
    and     v26.16b, v26.16b, v30.16b
    and     v27.16b, v27.16b, v30.16b
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [store]
.endm

.macro shifted s
    ushr    v24.16b, v20.16b, #2 * \s
    ushr    v25.16b, v21.16b, #2 * \s
    ushr    v26.16b, v22.16b, #2 * \s
    ushr    v27.16b, v23.16b, #2 * \s
    store_weights \s
.endm

.macro decode
    add     tile_scales, sp, #SCRATCH_SCALES
    movi    v31.16b, #15
    movi    v30.16b, #3
    ld1     {v0.8h, v1.8h}, [weights], #32
    store_d
    store_dmin
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
.irp scales, v0, v1, v2, v3, v4, v5, v6, v7
    store_scales \scales
.endr
    add     tile_scales, tile_scales, #SCRATCH_MINS - SCRATCH_D
    store_mins v0, v1
    store_mins v2, v3
    store_mins v4, v5
    store_mins v6, v7
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    mov     count, #8
.Lcolumns\@:
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    sub     count, count, #1
    mov     v24.16b, v20.16b
    mov     v25.16b, v21.16b
    mov     v26.16b, v22.16b
    mov     v27.16b, v23.16b
    store_weights 0
    shifted 1
    shifted 2
    shifted 3
    add     tile_weights, tile_weights, #64
    tst     count, #3
    b.ne    .Lcolumns\@
    add     tile_weights, tile_weights, #768
    cbnz    count, .Lcolumns\@
.endm

func gemm_f32_q2kx8_q8kx4_neon
    gemm_begin SCRATCH_BYTES, COLS_K_LOG2, Q8KX4_BYTES
    gemm_loops decode, tile_with_mins, Q8KX4_BYTES, 1, slice_end
    gemm_end SCRATCH_BYTES
endfunc gemm_f32_q2kx8_q8kx4_neon
