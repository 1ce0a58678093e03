// Shared by the gemms of TQ2_0, Q2_0 and Q1_0. Once for 64 tokens, weights of 8 rows and 256
// columns are decoded to numbers from -1 to 2, or to +-1 (int8 [64][8][4] on the stack), and their
// scales to floats. gemm_neon.h has the loops and registers.
//
// A tile: v0-v3 4 columns of 4 tokens; v4-v7 weights; v8-v15 y; v16-v31 sums.
#ifndef INGOT_KERNELS_ARM64_GEMM_FEW_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_FEW_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_neon.h"

#define SCRATCH_D FRAME_SCRATCH                 // f32 [4][8]
#define SCRATCH_WEIGHTS (SCRATCH_D + 128)       // int8 [64][8][4]
#define SCRATCH_BYTES (SCRATCH_WEIGHTS + 2048 - FRAME_SCRATCH)

#define store tile_out

// Convert the scales of each part to floats.
.macro decode_scales parts
    add     tile_scales, sp, #SCRATCH_D
.rept \parts
    ld1     {v0.8h}, [weights], #16
    fcvtl   v1.4s, v0.4h
    fcvtl2  v2.4s, v0.8h
    st1     {v1.4s, v2.4s}, [tile_scales], #32
.endr
.endm

.macro decode_field k
    add     store, tile_weights, #512 * \k
.irp bytes, v0.16b, v1.16b, v2.16b, v3.16b
.if \k
    ushr    v4.16b, \bytes, #2 * \k
    and     v4.16b, v4.16b, v6.16b
.else
    and     v4.16b, \bytes, v6.16b
.endif
    sub     v4.16b, v4.16b, v5.16b
    st1     {v4.16b}, [store], #16
.endr
.endm

.macro decode_two parts
    decode_scales \parts
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    movi    v5.16b, #1
    movi    v6.16b, #3
    mov     count, #8
.Lbytes\@:
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    subs    count, count, #1
    decode_field 0
    decode_field 1
    decode_field 2
    decode_field 3
    add     tile_weights, tile_weights, #64
    b.ne    .Lbytes\@
.endm

.macro decode_two_1
    decode_two 1
.endm

.macro decode_two_4
    decode_two 4
.endm

.macro decode_bit k
    add     store, tile_weights, #256 * \k
    movi    v6.16b, #1 << \k
.irp bytes, v0.16b, v1.16b, v2.16b, v3.16b
    cmtst   v4.16b, \bytes, v6.16b          // -1 if the bit is 1
    add     v4.16b, v4.16b, v4.16b
    mvn     v4.16b, v4.16b                      // 1, or -1 if the bit is 0
    st1     {v4.16b}, [store], #16
.endr
.endm

.macro decode_one parts
    decode_scales \parts
    add     tile_weights, sp, #SCRATCH_WEIGHTS
    mov     count, #4
.Lbytes\@:
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    subs    count, count, #1
.irp k, 0, 1, 2, 3, 4, 5, 6, 7
    decode_bit \k
.endr
    add     tile_weights, tile_weights, #64
    b.ne    .Lbytes\@
.endm

.macro decode_one_2
    decode_one 2
.endm

.macro begin_tile
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_out], #64
    ld1     {v12.4s, v13.4s, v14.4s, v15.4s}, [tile_out]
    sub     tile_out, tile_out, #64
    add     tile_weights, sp, #SCRATCH_WEIGHTS
.endm

// v0, v1 = scales of a part, v2 = scales of x, 128 + `left` bytes after tile_acts
.macro take_scales part, left
    add     tile_scales, sp, #SCRATCH_D + 32 * \part
    ld1     {v0.4s, v1.4s}, [tile_scales]
    add     tile_scales, tile_acts, #\left + 128
    ld1     {v2.4s}, [tile_scales]
.endm

.macro end_tile
    add     tile_acts, tile_acts, #Q8KX4_BYTES - 1024
    st1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_out], #64
    st1     {v12.4s, v13.4s, v14.4s, v15.4s}, [tile_out], #64
.endm

.macro slice_end
.endm

.macro gemm_few name, decode, tile, extension
func \name, \extension
    gemm_begin SCRATCH_BYTES, COLS_K_LOG2, Q8KX4_BYTES
    gemm_loops \decode, \tile, Q8KX4_BYTES, 1, slice_end
    gemm_end SCRATCH_BYTES
endfunc \name
.endm

// ---- without the dot product ------------------------------------------------------------------

// Over 256 columns, an int16 lane adds 64 products of -256 to 254, so even the sum of two lanes is
// at least -32768.
.macro part_neon part, parts
    two_chunk_products smull
    mov     count, #32 / \parts - 1
.Lchunks\@:
    subs    count, count, #1
    two_chunk_products smlal
    b.ne    .Lchunks\@
    fold_sums
    each_sum scvtf, 4s
    take_scales \part, 1024 - 1024 / \parts * (\part + 1)
    scale_tokens v0, v1, v2
    add_tokens fmla, v8, v9, v10, v11, v12, v13, v14, v15
.endm

.macro tile_1
    begin_tile
    part_neon 0, 1
    end_tile
.endm

.macro tile_2
    begin_tile
    part_neon 0, 2
    part_neon 1, 2
    end_tile
.endm

.macro tile_4
    begin_tile
    part_neon 0, 4
    part_neon 1, 4
    part_neon 2, 4
    part_neon 3, 4
    end_tile
.endm

// ---- with the dot product: sums in v16, v18 ... v30 ---------------------------------------------

.macro chunk_dots low, high, x_chunk
    sdot    v16.4s, \low\().16b, \x_chunk\().4b[0]
    sdot    v18.4s, \high\().16b, \x_chunk\().4b[0]
    sdot    v20.4s, \low\().16b, \x_chunk\().4b[1]
    sdot    v22.4s, \high\().16b, \x_chunk\().4b[1]
    sdot    v24.4s, \low\().16b, \x_chunk\().4b[2]
    sdot    v26.4s, \high\().16b, \x_chunk\().4b[2]
    sdot    v28.4s, \low\().16b, \x_chunk\().4b[3]
    sdot    v30.4s, \high\().16b, \x_chunk\().4b[3]
.endm

.macro part_dots part, parts
.irp sum, v16.4s, v18.4s, v20.4s, v22.4s, v24.4s, v26.4s, v28.4s, v30.4s
    movi    \sum, #0
.endr
    mov     count, #32 / \parts
.Lchunks\@:
    ld1     {v0.16b, v1.16b}, [tile_acts], #32
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [tile_weights], #64
    subs    count, count, #1
    chunk_dots v4, v5, v0
    chunk_dots v6, v7, v1
    b.ne    .Lchunks\@
    each_sum scvtf, 4s
    take_scales \part, 1024 - 1024 / \parts * (\part + 1)
    scale_tokens v0, v1, v2
    add_tokens fmla, v8, v9, v10, v11, v12, v13, v14, v15
.endm

.macro tile_dots_1
    begin_tile
    part_dots 0, 1
    end_tile
.endm

.macro tile_dots_2
    begin_tile
    part_dots 0, 2
    part_dots 1, 2
    end_tile
.endm

.macro tile_dots_4
    begin_tile
    part_dots 0, 4
    part_dots 1, 4
    part_dots 2, 4
    part_dots 3, 4
    end_tile
.endm

#endif
