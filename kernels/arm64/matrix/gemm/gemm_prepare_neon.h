// Prepares the weights of 8 rows for the tiles of a gemm (gemm_neon_dotprod.h): a slice of blocks
// from `weights` on becomes int8 in `quants` and scales in `factors`, in the scratch of the frame.
// Uses baseline NEON instructions only.
#ifndef INGOT_KERNELS_ARM64_GEMM_PREPARE_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PREPARE_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_neon_dotprod.h"

// ---- Q4_0 ------------------------------------------------------------

#define Q4_SLICE 24
#define PREPARED_SCALES 48              // for each block: 8 scales and the magic, f32
#define Q4_SCRATCH (Q4_SLICE * (256 + PREPARED_SCALES))

// Apply the operation with a constant to v16-v23.
.macro bytes_with operation, constant
    \operation v16.16b, v16.16b, \constant\().16b
    \operation v17.16b, v17.16b, \constant\().16b
    \operation v18.16b, v18.16b, \constant\().16b
    \operation v19.16b, v19.16b, \constant\().16b
    \operation v20.16b, v20.16b, \constant\().16b
    \operation v21.16b, v21.16b, \constant\().16b
    \operation v22.16b, v22.16b, \constant\().16b
    \operation v23.16b, v23.16b, \constant\().16b
.endm

// Prepare the scales and the magic of all blocks, then for each block 8 rows x 32 columns in chunks
// of 4 columns.
.macro prepare_q4
    add     w_scale, sp, #FRAME_SCRATCH
    add     w_block, w_scale, #Q4_SLICE * PREPARED_SCALES
    mov     quants, w_block
    mov     factors, w_scale
    place_magic MAGIC_16
    movi    v7.16b, #0x88
    movi    v6.16b, #0xf0
    mov     blocks_left, slice
.Lblock\@:
    ld1     {v0.8h}, [weights], #16
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    fcvtl   v1.4s, v0.4h
    fcvtl2  v2.4s, v0.8h
    bytes_with eor, v7
    st1     {v1.4s, v2.4s, v3.4s}, [w_scale], #PREPARED_SCALES
    shl     v24.16b, v16.16b, #4        // columns 0-15
    shl     v25.16b, v17.16b, #4
    shl     v26.16b, v18.16b, #4
    shl     v27.16b, v19.16b, #4
    shl     v28.16b, v20.16b, #4
    shl     v29.16b, v21.16b, #4
    shl     v30.16b, v22.16b, #4
    shl     v31.16b, v23.16b, #4
    st1     {v24.16b, v25.16b, v26.16b, v27.16b}, [w_block], #64
    bytes_with and, v6
    st1     {v28.16b, v29.16b, v30.16b, v31.16b}, [w_block], #64
    subs    blocks_left, blocks_left, #1
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [w_block], #64
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [w_block], #64
    b.ne    .Lblock\@
    mov     step, #Q8X4_BYTES - Q8X4_SCALE // the tile's step skips d and sum
.endm

// Multiply a prepared block by x of a tile.
.macro block_q4
    dot_32_columns seeds, #64
    ld1     {v8.4s, v9.4s, v10.4s}, [w_scale], #PREPARED_SCALES
    ld1     {v11.4s}, [x_block], step
    add_scaled
.endm

// The loop takes two blocks at a time; if the number of blocks is odd, the code enters the loop in
// its middle.
.macro multiply_q4
    tbz     blocks_left, #0, .Ltwo_blocks\@
    add     blocks_left, blocks_left, #1
    b       .Lsecond\@
.Ltwo_blocks\@:
    block_q4
.Lsecond\@:
    block_q4
    subs    blocks_left, blocks_left, #2
    b.ne    .Ltwo_blocks\@
.endm

// ---- nibbles through a table: as Q4_0, except for the values and the magic ----

#define table_arg x16                   // points to the table before gemm_tiles; afterwards `other` does

.macro keep_table
    mov     other, table_arg
.endm

.macro begin_table prepared_scales=Q4_SLICE*PREPARED_SCALES
    add     w_scale, sp, #FRAME_SCRATCH
    add     w_block, w_scale, #\prepared_scales
    mov     quants, w_block
    mov     factors, w_scale
    place_magic MAGIC
    movi    v7.16b, #15
    ld1     {v6.16b}, [other]
.endm

// v1, v2 = the scales of 8 rows.
.macro load_scales
    ld1     {v0.8h}, [weights], #16
    fcvtl   v1.4s, v0.4h
    fcvtl2  v2.4s, v0.8h
.endm

.macro values to0, to1, to2, to3
    tbl     \to0\().16b, {v6.16b}, \to0\().16b
    tbl     \to1\().16b, {v6.16b}, \to1\().16b
    tbl     \to2\().16b, {v6.16b}, \to2\().16b
    tbl     \to3\().16b, {v6.16b}, \to3\().16b
    st1     {\to0\().16b, \to1\().16b, \to2\().16b, \to3\().16b}, [w_block], #64
.endm

.macro prepare_run
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    and     v24.16b, v16.16b, v7.16b
    and     v25.16b, v17.16b, v7.16b
    and     v26.16b, v18.16b, v7.16b
    and     v27.16b, v19.16b, v7.16b
    and     v28.16b, v20.16b, v7.16b
    and     v29.16b, v21.16b, v7.16b
    and     v30.16b, v22.16b, v7.16b
    and     v31.16b, v23.16b, v7.16b
    values  v24, v25, v26, v27
    values  v28, v29, v30, v31
    ushr    v16.16b, v16.16b, #4
    ushr    v17.16b, v17.16b, #4
    ushr    v18.16b, v18.16b, #4
    ushr    v19.16b, v19.16b, #4
    ushr    v20.16b, v20.16b, #4
    ushr    v21.16b, v21.16b, #4
    ushr    v22.16b, v22.16b, #4
    ushr    v23.16b, v23.16b, #4
    values  v16, v17, v18, v19
    values  v20, v21, v22, v23
.endm

.macro prepare_t4
    begin_table
    mov     blocks_left, slice
.Lblock\@:
    load_scales
    st1     {v1.4s, v2.4s, v3.4s}, [w_scale], #PREPARED_SCALES
    prepare_run
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
    mov     step, #Q8X4_BYTES - Q8X4_SCALE // the tile's step skips d and sum
.endm

// ---- Q8_0 ------------------------------------------------------------

#define Q8_SLICE 48
#define Q8_SCRATCH (Q8_SLICE * PREPARED_SCALES)

.macro prepare_q8
    add     quants, weights, #QUANTS
    add     factors, sp, #FRAME_SCRATCH
    mov     w_scale, factors
    place_magic MAGIC
    mov     step, #Q8X8_BYTES
    mov     blocks_left, slice
.Lblock\@:
    ld1     {v0.8h}, [weights], step
    subs    blocks_left, blocks_left, #1
    fcvtl   v1.4s, v0.4h
    fcvtl2  v2.4s, v0.8h
    st1     {v1.4s, v2.4s, v3.4s}, [w_scale], #PREPARED_SCALES
    b.ne    .Lblock\@
    mov     step, #Q8X4_BYTES - Q8X4_SCALE // the tile's step skips d and sum
.endm

// ---- the K45 types ---------------------------------------------------

#define K45_SLICE 3
#define K45_PREPARED 448                // bytes of a block: scales 256, minima 128, d and dmin 64
#define K45_PREPARED_QUADS 384          // the same if minima are stored as bytes: 64
#define K45_SCRATCH (K45_SLICE * (2048 + K45_PREPARED))

// Write two sub-blocks' 6-bit scales, from the low bits of `packed`, as int32.
.macro widen_k45 packed
    and     v16.16b, \packed\().16b, v31.16b
    ushll   v17.8h, v16.8b, #0
    ushll2  v18.8h, v16.16b, #0
    ushll   v20.4s, v17.4h, #0
    ushll2  v21.4s, v17.8h, #0
    ushll   v22.4s, v18.4h, #0
    ushll2  v23.4s, v18.8h, #0
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [w_scale], #64
.endm

// Rows of 4 bytes: `first` has sub-blocks j and j + 1 of 8 rows, `second` j + 2 and j + 3.
.macro interleave_minima first, second, rows0123, rows4567
    ext     v16.16b, \first\().16b, \first\().16b, #8
    ext     v17.16b, \second\().16b, \second\().16b, #8
    zip1    v16.16b, \first\().16b, v16.16b
    zip1    v17.16b, \second\().16b, v17.16b
    zip1    \rows0123\().8h, v16.8h, v17.8h
    zip2    \rows4567\().8h, v16.8h, v17.8h
.endm

.macro widen_minima
    ushll   v16.8h, v2.8b, #0
    ushll2  v17.8h, v2.16b, #0
    ushll   v18.8h, v3.8b, #0
    ushll2  v19.8h, v3.16b, #0
    ushll   v20.8h, v4.8b, #0
    ushll2  v21.8h, v4.16b, #0
    ushll   v22.8h, v5.8b, #0
    ushll2  v23.8h, v5.16b, #0
    st1     {v16.8h, v17.8h, v18.8h, v19.8h}, [w_scale], #64
    st1     {v20.8h, v21.8h, v22.8h, v23.8h}, [w_scale], #64
.endm

.macro prepare_scales_k45 quads
    ld1     {v0.8h, v1.8h}, [weights], #32
    ld1     {v2.16b, v3.16b, v4.16b, v5.16b}, [weights], #64
    ld1     {v6.16b, v7.16b}, [weights], #32
    movi    v31.16b, #63
    widen_k45 v2
    widen_k45 v3
    widen_k45 v4
    widen_k45 v5
    ushr    v2.16b, v2.16b, #6          // low bits of the minima; each register has two sub-blocks
    ushr    v3.16b, v3.16b, #6
    ushr    v4.16b, v4.16b, #6
    ushr    v5.16b, v5.16b, #6
    ushr    v16.16b, v6.16b, #4
    ushr    v17.16b, v7.16b, #4
    sli     v2.16b, v6.16b, #2
    sli     v3.16b, v7.16b, #2
    sli     v4.16b, v16.16b, #2
    sli     v5.16b, v17.16b, #2
    and     v2.16b, v2.16b, v31.16b
    and     v3.16b, v3.16b, v31.16b
.if \quads
    interleave_minima v2, v3, v20, v21
    interleave_minima v4, v5, v22, v23
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [w_scale], #64
.else
    widen_minima
.endif
    fcvtl   v24.4s, v0.4h
    fcvtl2  v25.4s, v0.8h
    fcvtl   v26.4s, v1.4h
    fcvtl2  v27.4s, v1.8h
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [w_scale], #64
.endm

// Sums of x over 32 columns, of four tokens, from those over 16 at x_block: v0 sub-blocks 0 and 2,
// v2 1 and 3, v4 4 and 6, v6 5 and 7. Destroys v1, v3, v5, v7.
.macro load_sums_k45
    ld4     {v0.2d, v1.2d, v2.2d, v3.2d}, [x_block], #64    // 0 and 4, 1 and 5, ...
    ld4     {v4.2d, v5.2d, v6.2d, v7.2d}, [x_block], #64    // 8 and 12, ...
    add     v0.8h, v0.8h, v1.8h
    add     v2.8h, v2.8h, v3.8h
    add     v4.8h, v4.8h, v5.8h
    add     v6.8h, v6.8h, v7.8h
.endm

// ---- the K36 types ---------------------------------------------------

#define K36_SLICE 3
#define K36_PREPARED (512 + 16)         // scales; d as in the weights
#define K36_SCRATCH (K36_SLICE * (2048 + K36_PREPARED))

// Write four sub-blocks' scales as int32.
.macro widen_k36 first, second
    sshll   v16.8h, \first\().8b, #0
    sshll2  v17.8h, \first\().16b, #0
    sshll   v18.8h, \second\().8b, #0
    sshll2  v19.8h, \second\().16b, #0
    sshll   v20.4s, v16.4h, #0
    sshll2  v21.4s, v16.8h, #0
    sshll   v22.4s, v17.4h, #0
    sshll2  v23.4s, v17.8h, #0
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [w_scale], #64
    sshll   v24.4s, v18.4h, #0
    sshll2  v25.4s, v18.8h, #0
    sshll   v26.4s, v19.4h, #0
    sshll2  v27.4s, v19.8h, #0
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [w_scale], #64
.endm

#endif
