// void gemm_f32_q4x8_q8x4_neon_dotprod(float *y, const void *w, const struct block_q8x4 *x,
//                                      const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// Prepared weights are 16 (nibble - 8): one exclusive or of the byte, then a shift or a mask. The
// magic that makes floats of the sums divides by 16, and the correction by 8 sum(x) never appears.
// A block of 8 rows takes a token 16 sdot and 6 others in the vector pipes, 24.8 instructions in
// all: aims at 11 cycles where there are two pipes (Cortex-A76), 75 % of the peak of sdot.
#include "kernels/arm64/gemm_dotprod.h"

#define SLICE_BLOCKS 24
#define SCRATCH_BYTES (SLICE_BLOCKS * (256 + 48))

// v16-v23 with a constant
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

// The scales and the magic of all blocks, then per block 8 rows x 32 columns in chunks of 4 columns.
.macro prepare_q4
    add     w_scale, sp, #FRAME_SCRATCH
    add     w_block, w_scale, #SLICE_BLOCKS * 48
    mov     quants, w_block
    mov     factors, w_scale
    place_magic MAGIC_16
    movi    v7.16b, #0x88
    movi    v6.16b, #0xf0
    mov     count, slice
301:
    ld1     {v0.8h}, [weights], #16
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [weights], #64
    fcvtl   v1.4s, v0.4h
    fcvtl2  v2.4s, v0.8h
    bytes_with eor, v7
    st1     {v1.4s, v2.4s, v3.4s}, [w_scale], #48
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
    subs    count, count, #1
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [w_block], #64
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [w_block], #64
    b.ne    301b
.endm

.macro block_q4
    dot_32_columns temp, #64
    ld1     {v8.4s, v9.4s, v10.4s}, [w_scale], #48
    ld1     {v11.4s}, [x_block], step
    add_scaled
.endm

// Two blocks at a time; an odd count enters in the middle.
.macro multiply_q4
    mov     w_block, quants
    mov     w_scale, factors
    mov     step, #32                   // over d and sum
    add     temp, sp, #FRAME_TILE
    tbz     count, #0, 401f
    add     count, count, #1
    b       402f
401:
    block_q4
402:
    block_q4
    subs    count, count, #2
    b.ne    401b
.endm

func gemm_f32_q4x8_q8x4_neon_dotprod, dotprod
    gemm_tiles prepare_q4, multiply_q4, 5, 160, SLICE_BLOCKS, SCRATCH_BYTES
endfunc gemm_f32_q4x8_q8x4_neon_dotprod
