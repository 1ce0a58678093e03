// void gemm_f32_q6kx8_q8kx4_neon(float *y, const void *w, const struct block_q8kx4 *x,
//                                const struct gemm_shape *shape)
//
// x0-x17 as named in gemm_neon.h. In a sub-block: v0-v3 4 columns of 4 tokens, each four times
// over; v4-v7 weights, then scales; v8-v15 sums in int32, of a token rows 0-3 and 4-7; v16-v31 sums
// in int16. After the sub-blocks: v4 scales of x, v5, v6 of the rows; v16-v23 y.
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved. 4.7 KiB of stack.
//
// Weights are spread to int8 and scales to int32 once for 64 tokens, 256 columns at a time, the
// weights as 32 - q: its product with x lies from -32 * 128 to 32 * 127 or 31 * 128, so that the 8
// that meet in an int16 lane after the pairwise add reach -32768 and no further than 32512, where
// q - 32 would reach 32768. The sums are then subtracted.
// 32 columns and a token take 32 multiplications, 12 operations to fold and scale, and 6 others:
// 50.
// 84 cycles in the model of Cortex-A53, 45 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/matrix/gemm/gemm_neon.h"

#define SCRATCH_SCALES FRAME_SCRATCH            // int32 [16][8]
#define SCRATCH_D (SCRATCH_SCALES + 512)        // f32 [8]
#define SCRATCH_WEIGHTS (SCRATCH_D + 32)        // int8 [64][8][4]
#define SCRATCH_BYTES (SCRATCH_WEIGHTS + 2048 - FRAME_SCRATCH)

#define low_odd groups_left     // low bits of columns 64-127 of 128; of 0-63: weights
#define high tile_acts
#define store tile_out

// v24-v27 with 2 high bits in bits 4 and 5, the others to be replaced or clear
.macro mask_high first, second, third, fourth
    and     v24.16b, \first\().16b, v20.16b
    and     v25.16b, \second\().16b, v20.16b
    and     v26.16b, \third\().16b, v20.16b
    and     v27.16b, \fourth\().16b, v20.16b
.endm

.macro high_bits shift, bits
    \shift  v24.16b, v16.16b, #\bits
    \shift  v25.16b, v17.16b, #\bits
    \shift  v26.16b, v18.16b, #\bits
    \shift  v27.16b, v19.16b, #\bits
    mask_high v24, v25, v26, v27
.endm

.macro low_nibbles first, second, third, fourth
    bit     v24.16b, \first\().16b, v21.16b
    bit     v25.16b, \second\().16b, v21.16b
    bit     v26.16b, \third\().16b, v21.16b
    bit     v27.16b, \fourth\().16b, v21.16b
.endm

.macro high_nibbles first, second, third, fourth
    sri     v24.16b, \first\().16b, #4
    sri     v25.16b, \second\().16b, #4
    sri     v26.16b, \third\().16b, #4
    sri     v27.16b, \fourth\().16b, #4
.endm

// 32 - q to bytes after tile_weights
.macro store_weights offset
    add     store, tile_weights, #\offset
    sub     v24.16b, v22.16b, v24.16b
    sub     v25.16b, v22.16b, v25.16b
    sub     v26.16b, v22.16b, v26.16b
    sub     v27.16b, v22.16b, v27.16b
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [store]
.endm

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

.macro decode
    add     tile_scales, sp, #SCRATCH_SCALES
    ld1     {v8.8h}, [weights], #16
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
.irp scales, v0, v1, v2, v3, v4, v5, v6, v7
    store_scales \scales
.endr
    fcvtl   v9.4s, v8.4h
    fcvtl2  v10.4s, v8.8h
    st1     {v9.4s, v10.4s}, [tile_scales]
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    add     low_odd, weights, #256
    add     high, weights, #Q6K_HIGH - Q6K_LOW
    movi    v20.16b, #0x30
    movi    v21.16b, #0x0f
    movi    v22.16b, #32
    mov     count, #8
.Lcolumns\@:
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [low_odd], #64
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [high], #64
    sub     count, count, #1
    high_bits shl, 4
    low_nibbles v0, v1, v2, v3
    store_weights 0
    high_bits shl, 2
    high_nibbles v0, v1, v2, v3
    store_weights 256
    mask_high v16, v17, v18, v19
    low_nibbles v4, v5, v6, v7
    store_weights 512
    high_bits ushr, 2
    high_nibbles v4, v5, v6, v7
    store_weights 768
    add     tile_weights, tile_weights, #64
    tst     count, #3
    b.ne    .Lcolumns\@
    add     weights, weights, #256          // the next 128 columns, after 4 times 64 bytes
    add     low_odd, low_odd, #256
    add     tile_weights, tile_weights, #768
    cbnz    count, .Lcolumns\@
    mov     weights, high
.endm

.macro tile
    add     tile_scales, sp, #SCRATCH_SCALES
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    mov     count, #16
    zero_totals
.Lsub_blocks\@:
    two_chunk_products smull
    two_chunk_products smlal
    ld1     {v4.4s, v5.4s}, [tile_scales], #32
    subs    count, count, #1
    fold_sums
    scale_sums mls, v4, v5
    b.ne    .Lsub_blocks\@

    add     tile_acts, tile_acts, #128      // sums, which centred weights do not need
    ld1     {v5.4s, v6.4s}, [tile_scales]
    ld1     {v4.4s}, [tile_acts], #16
    totals_to_f32
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_out], #64
    scale_totals v5, v6, v4
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [tile_out]
    sub     tile_out, tile_out, #64
    add_totals fmla
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_out], #64
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [tile_out], #64
.endm

.macro slice_end
.endm

func gemm_f32_q6kx8_q8kx4_neon
    gemm_begin SCRATCH_BYTES, COLS_K_LOG2, Q8KX4_BYTES
    gemm_loops decode, tile, Q8KX4_BYTES, 1, slice_end
    gemm_end SCRATCH_BYTES
endfunc gemm_f32_q6kx8_q8kx4_neon
