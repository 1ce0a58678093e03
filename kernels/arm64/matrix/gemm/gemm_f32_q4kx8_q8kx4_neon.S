// void gemm_f32_q4kx8_q8kx4_neon(float *y, const void *w, const struct block_q8kx4 *x,
//                                const struct gemm_shape *shape)
//
// x0-x17 as named in gemm_neon.h. In a sub-block: v0-v3 4 columns of 4 tokens, each four times
// over; v4-v7 weights, then scales; v8-v15 sums in int32, of a token rows 0-3 and 4-7; v16-v31 sums
// in int16. After the sub-blocks: v0-v3 sums of x, v4 scales of x, v5, v6 scales of the rows;
// v16-v23 y; v8-v15 mins in int32.
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved. 4.5 KiB of stack.
//
// Nibbles, scales and mins are spread to int8, int32 and int16 once for 64 tokens, 256 columns at a
// time. A nibble's product with x lies within 15 * 128 = 1920, 8 of them fall to an int16 lane in
// a sub-block and 16 to a lane after the pairwise add: 30720. A sub-block and token take 32
// multiplications, 6 operations to fold and scale, 4 others, and an eighth of 35 for mins and y:
// 47.
// 78 cycles in the model of Cortex-A53, 42 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/matrix/gemm/gemm_neon.h"

#define SCRATCH_SCALES FRAME_SCRATCH            // int32 [8][8]
#define SCRATCH_D (SCRATCH_SCALES + 256)        // f32 [8]
#define SCRATCH_MINS (SCRATCH_D + 32)           // int16 [8][8]
#define SCRATCH_DMIN (SCRATCH_MINS + 128)       // f32 [8]
#define SCRATCH_WEIGHTS (SCRATCH_DMIN + 32)     // uint8 [64][8][4]
#define SCRATCH_BYTES (SCRATCH_WEIGHTS + 2048 - FRAME_SCRATCH)

// Scales of two sub-blocks, 6 bits of each byte of `from`, to tile_scales as int32
.macro store_scales from
    and     v16.16b, \from\().16b, v31.16b
    uxtl    v17.8h, v16.8b
    uxtl2   v19.8h, v16.16b
    uxtl    v16.4s, v17.4h
    uxtl2   v17.4s, v17.8h
    uxtl    v18.4s, v19.4h
    uxtl2   v19.4s, v19.8h
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_scales], #64
.endm

// Mins of four sub-blocks: low 2 bits from the scales, high 4 from `high01`, `high23`; as int16
.macro store_mins scales01, scales23, high01, high23
    ushr    v16.16b, \scales01\().16b, #6
    ushr    v18.16b, \scales23\().16b, #6
    sli     v16.16b, \high01\().16b, #2
    sli     v18.16b, \high23\().16b, #2
    uxtl2   v17.8h, v16.16b
    uxtl    v16.8h, v16.8b
    uxtl2   v19.8h, v18.16b
    uxtl    v18.8h, v18.8b
    st1     {v16.8h, v17.8h, v18.8h, v19.8h}, [tile_scales], #64
.endm

.macro store_low first, second, third, fourth
    and     v24.16b, \first\().16b, v31.16b
    and     v25.16b, \second\().16b, v31.16b
    and     v26.16b, \third\().16b, v31.16b
    and     v27.16b, \fourth\().16b, v31.16b
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [tile_weights], #64
.endm

.macro store_high first, second, third, fourth
    ushr    v24.16b, \first\().16b, #4
    ushr    v25.16b, \second\().16b, #4
    ushr    v26.16b, \third\().16b, #4
    ushr    v27.16b, \fourth\().16b, #4
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [tile_weights], #64
.endm

.macro decode
    add     tile_scales, sp, #SCRATCH_SCALES
    movi    v31.16b, #63
    ld1     {v0.8h, v1.8h}, [weights], #32
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    ld1     {v2.16b, v3.16b}, [weights], #32
    fcvtl   v8.4s, v0.4h
    fcvtl2  v9.4s, v0.8h
    fcvtl   v10.4s, v1.4h
    fcvtl2  v11.4s, v1.8h
    store_scales v4
    store_scales v5
    store_scales v6
    store_scales v7
    movi    v31.16b, #15
    st1     {v8.4s, v9.4s}, [tile_scales], #32
    and     v20.16b, v2.16b, v31.16b
    and     v21.16b, v3.16b, v31.16b
    ushr    v22.16b, v2.16b, #4
    ushr    v23.16b, v3.16b, #4
    store_mins v4, v5, v20, v21
    store_mins v6, v7, v22, v23
    st1     {v10.4s, v11.4s}, [tile_scales], #32
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    mov     count, #4
.Lpair\@:
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [weights], #64
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [weights], #64
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    subs    count, count, #1
    store_low v8, v9, v10, v11
    store_low v12, v13, v14, v15
    store_low v16, v17, v18, v19
    store_low v20, v21, v22, v23
    store_high v8, v9, v10, v11
    store_high v12, v13, v14, v15
    store_high v16, v17, v18, v19
    store_high v20, v21, v22, v23
    b.ne    .Lpair\@
.endm

// v8-v15 (+)= mins of a sub-block times the sums of 4 tokens' x, sums.h[from .. from + 3]
.macro add_mins multiply, mins, sums, from
    \multiply   v8.4s, \mins\().4h, \sums\().h[\from]
    \multiply\()2 v9.4s, \mins\().8h, \sums\().h[\from]
    \multiply   v10.4s, \mins\().4h, \sums\().h[\from + 1]
    \multiply\()2 v11.4s, \mins\().8h, \sums\().h[\from + 1]
    \multiply   v12.4s, \mins\().4h, \sums\().h[\from + 2]
    \multiply\()2 v13.4s, \mins\().8h, \sums\().h[\from + 2]
    \multiply   v14.4s, \mins\().4h, \sums\().h[\from + 3]
    \multiply\()2 v15.4s, \mins\().8h, \sums\().h[\from + 3]
.endm

// sums = those of x over 32 columns, of two sub-blocks and 4 tokens each; from over 16
.macro join_sums sums, first, second
    uzp1    \sums\().2d, \first\().2d, \second\().2d
    uzp2    \first\().2d, \first\().2d, \second\().2d
    add     \sums\().8h, \sums\().8h, \first\().8h
.endm

.macro tile
    add     tile_scales, sp, #SCRATCH_SCALES
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    mov     count, #8
    zero_totals
.Lsub_block\@:
    two_chunk_products smull
    two_chunk_products smlal
    two_chunk_products smlal
    two_chunk_products smlal
    ld1     {v4.4s, v5.4s}, [tile_scales], #32
    subs    count, count, #1
    fold_sums
    scale_sums mla, v4, v5
    b.ne    .Lsub_block\@

    ld1     {v24.8h, v25.8h, v26.8h, v27.8h}, [tile_acts], #64
    ld1     {v28.8h, v29.8h, v30.8h, v31.8h}, [tile_acts], #64
    ld1     {v4.4s}, [tile_acts], #16
    ld1     {v5.4s, v6.4s}, [tile_scales], #32
    totals_to_f32
    join_sums v0, v24, v25
    join_sums v1, v26, v27
    join_sums v2, v28, v29
    join_sums v3, v30, v31
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_out], #64
    scale_totals v5, v6, v4
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [tile_out]
    sub     tile_out, tile_out, #64
    add_totals fmla

    ld1     {v24.8h, v25.8h, v26.8h, v27.8h}, [tile_scales], #64
    ld1     {v28.8h, v29.8h, v30.8h, v31.8h}, [tile_scales], #64
    ld1     {v5.4s, v6.4s}, [tile_scales]
    add_mins smull, v24, v0, 0
    add_mins smlal, v25, v0, 4
    add_mins smlal, v26, v1, 0
    add_mins smlal, v27, v1, 4
    add_mins smlal, v28, v2, 0
    add_mins smlal, v29, v2, 4
    add_mins smlal, v30, v3, 0
    add_mins smlal, v31, v3, 4
    totals_to_f32
    scale_totals v5, v6, v4
    add_totals fmls
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_out], #64
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [tile_out], #64
.endm

.macro slice_end
.endm

func gemm_f32_q4kx8_q8kx4_neon
    gemm_begin SCRATCH_BYTES, COLS_K_LOG2, Q8KX4_BYTES
    gemm_loops decode, tile, Q8KX4_BYTES, 1, slice_end
    gemm_end SCRATCH_BYTES
endfunc gemm_f32_q4kx8_q8kx4_neon
