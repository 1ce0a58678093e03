// void gemm_f32_q5kx8_q8kx4_neon(float *y, const void *w, const struct block_q8kx4 *x,
//                                const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_k16_neon.h. Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
// 5.0 KiB of stack.
#include "kernels/arm64/matrix/gemm/gemm_k16_neon.h"

// Scales of two sub-blocks, 6 bits of each byte of `from`, to tile_scales as int32, each twice
.macro store_scales from
    and     v16.16b, \from\().16b, v31.16b
    uxtl    v17.8h, v16.8b
    uxtl2   v19.8h, v16.16b
    uxtl    v20.4s, v17.4h
    uxtl2   v21.4s, v17.8h
    uxtl    v22.4s, v19.4h
    uxtl2   v23.4s, v19.8h
    st1     {v20.4s, v21.4s}, [tile_scales], #32
    st1     {v20.4s, v21.4s}, [tile_scales], #32
    st1     {v22.4s, v23.4s}, [tile_scales], #32
    st1     {v22.4s, v23.4s}, [tile_scales], #32
.endm

// Mins of two sub-blocks: low 2 bits from the scales, high 4 from `high_bits`; as int16, each twice
.macro store_mins scales01, high_bits
    ushr    v16.16b, \scales01\().16b, #6
    sli     v16.16b, \high_bits\().16b, #2
    uxtl    v17.8h, v16.8b
    uxtl2   v19.8h, v16.16b
    mov     v18.16b, v17.16b
    mov     v20.16b, v19.16b
    st1     {v17.8h, v18.8h, v19.8h, v20.8h}, [tile_scales], #64
.endm

// Low nibbles and fifth bits of a register to `to`, the others in the place of `bits`.
.macro join nibbles, bits, to
    ushl    \to\().16b, \bits\().16b, v28.16b
    ushl    \bits\().16b, \bits\().16b, v29.16b
    bit     \to\().16b, \nibbles\().16b, v31.16b
    sri     \bits\().16b, \nibbles\().16b, #4
    and     \to\().16b, \to\().16b, v30.16b
    and     \bits\().16b, \bits\().16b, v30.16b
.endm

.macro decode
    add     tile_scales, sp, #SCRATCH_SCALES
    movi    v31.16b, #63
    ld1     {v0.8h, v1.8h}, [weights], #32
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    ld1     {v2.16b, v3.16b}, [weights], #32
    store_d
    store_dmin
    store_scales v4
    store_scales v5
    store_scales v6
    store_scales v7
    movi    v31.16b, #15
    add     tile_scales, tile_scales, #SCRATCH_MINS - SCRATCH_D
    and     v24.16b, v2.16b, v31.16b
    and     v25.16b, v3.16b, v31.16b
    ushr    v26.16b, v2.16b, #4
    ushr    v27.16b, v3.16b, #4
    store_mins v4, v24
    store_mins v5, v25
    store_mins v6, v26
    store_mins v7, v27
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    movi    v28.16b, #4                 // a sub-block's fifth bits to bit 4, of low nibbles
    movi    v29.16b, #3                 // and of high ones
    movi    v30.16b, #31
    add     high, weights, #1024
    mov     count, #16                  // 16 columns of each of two sub-blocks are two turns
.Lcolumns\@:
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [high], #64
    subs    count, count, #1
    join    v0, v4, v16
    join    v1, v5, v17
    join    v2, v6, v18
    join    v3, v7, v19
    add     store, tile_weights, #256   // of the high nibbles
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [tile_weights], #64
    st1     {v4.16b, v5.16b, v6.16b, v7.16b}, [store]
    tst     count, #3
    b.ne    .Lcolumns\@
    movi    v16.16b, #2
    add     tile_weights, tile_weights, #256
    sub     high, high, #256
    sub     v28.16b, v28.16b, v16.16b
    sub     v29.16b, v29.16b, v16.16b
    cbnz    count, .Lcolumns\@
    add     weights, weights, #256      // the fifth bits
.endm

func gemm_f32_q5kx8_q8kx4_neon
    gemm_begin SCRATCH_BYTES, COLS_K_LOG2, Q8KX4_BYTES
    gemm_loops decode, tile_with_mins, Q8KX4_BYTES, 1, slice_end
    gemm_end SCRATCH_BYTES
endfunc gemm_f32_q5kx8_q8kx4_neon
