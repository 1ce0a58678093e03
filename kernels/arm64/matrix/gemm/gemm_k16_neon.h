// Gemms of the K formats that store a weight's bits in separate planes. A tile has 16 sub-blocks of
// 16 columns; a sub-block of 32 counts as two with the same scale.
//
// gemm_neon.h names x0-x17. Within a sub-block, v0-v3 hold four columns of a token each, repeated
// four times; v4-v7 hold weights, then scales; v8-v15 hold the int32 sums, two registers for each
// token (rows 0-3, rows 4-7); v16-v31 hold the int16 sums. After the sub-blocks, v0-v3 hold sums of
// x, v4 the scales of x, v5 and v6 those of the rows, v16-v23 y, and v8-v15 the int32 mins.
//
// Weights, scales and mins are unpacked to int8, int32 and int16 once for 64 tokens, 256 columns at
// a time. A product lies within 31 * 128 = 3968, and an int16 lane adds 8 of them: 31744.
#ifndef INGOT_KERNELS_ARM64_GEMM_K16_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_K16_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_neon.h"

#define SCRATCH_SCALES FRAME_SCRATCH            // int32 [16][8]
#define SCRATCH_D (SCRATCH_SCALES + 512)        // f32 [8]
#define SCRATCH_MINS (SCRATCH_D + 32)           // int16 [16][8]
#define SCRATCH_DMIN (SCRATCH_MINS + 256)       // f32 [8]
#define SCRATCH_WEIGHTS (SCRATCH_DMIN + 32)     // int8 [64][8][4]
#define SCRATCH_BYTES (SCRATCH_WEIGHTS + 2048 - FRAME_SCRATCH)

#define high tile_acts          // while decoding
#define store tile_out

// Store d, and dmin, from v0 and v1 as floats.
.macro store_d
    fcvtl   v16.4s, v0.4h
    fcvtl2  v17.4s, v0.8h
    add     store, sp, #SCRATCH_D
    st1     {v16.4s, v17.4s}, [store]
.endm

.macro store_dmin
    fcvtl   v16.4s, v1.4h
    fcvtl2  v17.4s, v1.8h
    add     store, sp, #SCRATCH_DMIN
    st1     {v16.4s, v17.4s}, [store]
.endm

.macro products_16
    two_chunk_products smull
    two_chunk_products smlal
    ld1     {v4.4s, v5.4s}, [tile_scales], #32
    subs    count, count, #1
    fold_sums
    scale_sums mla, v4, v5
.endm

.macro begin_tile
    add     tile_scales, sp, #SCRATCH_SCALES
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    mov     count, #16
    zero_totals
.endm

// Add the totals to y of the tile; v4 has the scales of x.
.macro add_products
    ld1     {v5.4s, v6.4s}, [tile_scales], #32
    totals_to_f32
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_out], #64
    scale_totals v5, v6, v4
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [tile_out]
    sub     tile_out, tile_out, #64
    add_totals fmla
.endm

.macro store_tile
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [tile_out], #64
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [tile_out], #64
.endm

.macro tile_without_mins
    begin_tile
.Lsub_blocks\@:
    products_16
    b.ne    .Lsub_blocks\@
    add     tile_acts, tile_acts, #Q8KX4_SCALE - Q8KX4_SUM
    ld1     {v4.4s}, [tile_acts], #16
    add_products
    store_tile
.endm

// v8-v15 (+)= mins of a sub-block * the sums of 4 tokens' x, sums.h[from..from + 3]
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

.macro eight_mins multiply
    ld1     {v0.8h, v1.8h, v2.8h, v3.8h}, [tile_acts], #64
    ld1     {v24.8h, v25.8h, v26.8h, v27.8h}, [tile_scales], #64
    ld1     {v28.8h, v29.8h, v30.8h, v31.8h}, [tile_scales], #64
    add_mins \multiply, v24, v0, 0
    add_mins smlal, v25, v0, 4
    add_mins smlal, v26, v1, 0
    add_mins smlal, v27, v1, 4
    add_mins smlal, v28, v2, 0
    add_mins smlal, v29, v2, 4
    add_mins smlal, v30, v3, 0
    add_mins smlal, v31, v3, 4
.endm

.macro tile_with_mins
    begin_tile
.Lsub_blocks\@:
    products_16
    b.ne    .Lsub_blocks\@
    add     count, tile_acts, #Q8KX4_SCALE - Q8KX4_SUM
    ld1     {v4.4s}, [count]
    add_products
    eight_mins smull
    eight_mins smlal
    add     tile_acts, tile_acts, #16   // skip the scales
    ld1     {v5.4s, v6.4s}, [tile_scales]
    totals_to_f32
    scale_totals v5, v6, v4
    add_totals fmls
    store_tile
.endm

.macro slice_end
.endm

#endif
