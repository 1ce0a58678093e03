// void gemm_f32_q6kx8_q8kx4_neon_dotprod(float *y, const void *w, const struct block_q8kx4 *x,
//                                        const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_dotprod.h
// v24-v31 integers of 8 rows and 4 tokens over 256 columns, v16-v23 over 16; v0-v7 weights,
// v8-v15 x; y is in the frame meanwhile.
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// Prepared weights are 4 (q - 32), the 6 bits on top of a byte: a shift puts the high bits there and
// sri the low ones under them; the exclusive or that makes them signed serves four at once. The
// sums stay below 2^30, and the conversion to float divides by 4, which is exact. Scales are prepared
// as int32. 32 columns of 8 rows take a token 16 sdot, 4 mla and 24 instructions in all: aims at
// 11 cycles where there are two vector pipes (Cortex-A76).
#include "kernels/arm64/gemm_dotprod.h"

#define SLICE_BLOCKS 3
#define SCALES_BYTES (512 + 16)         // scales, and d as it is in the weights
#define SCRATCH_BYTES (SLICE_BLOCKS * (2048 + SCALES_BYTES))

// Four sub-blocks' scales as int32.
.macro widen_scales first, second
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

// Eight columns of each of the four sub-blocks that share the high bits: v0-v3 low bits of the
// first two, v4-v7 of the others, v20-v23 high bits of all.
.macro prepare_columns
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [x_block], #64
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [x_tile], #64
    place   v20, v0, v4, v8, v12, v16
    place   v21, v1, v5, v9, v13, v17
    place   v22, v2, v6, v10, v14, v18
    place   v23, v3, v7, v11, v15, v19
    st1     {v8.16b, v9.16b, v10.16b, v11.16b}, [w_block], step
    st1     {v12.16b, v13.16b, v14.16b, v15.16b}, [w_block], step
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [w_block], step
    st1     {v20.16b, v21.16b, v22.16b, v23.16b}, [w_block], last_step
.endm

// One register of it; the fourth result replaces `high`.
.macro place high, low01, low23, to0, to1, to2
    eor     \high\().16b, \high\().16b, v30.16b
    shl     \to0\().16b, \high\().16b, #6
    shl     \to1\().16b, \high\().16b, #4
    shl     \to2\().16b, \high\().16b, #2
    shl     v24.16b, \low01\().16b, #4
    and     v25.16b, \low01\().16b, v31.16b
    shl     v26.16b, \low23\().16b, #4
    and     v27.16b, \low23\().16b, v31.16b
    sri     \to0\().16b, v24.16b, #2
    sri     \to1\().16b, v25.16b, #2
    sri     \to2\().16b, v26.16b, #2
    sri     \high\().16b, v27.16b, #2
.endm

// The scales of all blocks, then their weights. x_tile is not in use yet.
.macro prepare_q6k
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #SLICE_BLOCKS * SCALES_BYTES
    mov     w_scale, factors
    mov     w_block, quants
    movi    v30.16b, #0xaa
    movi    v31.16b, #0xf0
    mov     step, #256
    mov     last_step, #64 - 3 * 256
    mov     count, slice
301:
    ld1     {v28.16b}, [weights], #16
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [weights], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    widen_scales v0, v1
    widen_scales v2, v3
    widen_scales v4, v5
    widen_scales v6, v7
    st1     {v28.16b}, [w_scale], #16
    add     x_block, weights, #1024     // high bits
    mov     temp, #2
302:
    add     x_tile, weights, #256       // low bits of the third and fourth sub-block
    prepare_columns
    prepare_columns
    prepare_columns
    prepare_columns
    add     weights, weights, #256
    add     w_block, w_block, #3 * 256
    subs    temp, temp, #1
    b.ne    302b
    mov     weights, x_block
    subs    count, count, #1
    b.ne    301b
.endm

// 16 columns with x in four registers, of which the first two then take the scales.
.macro dot_16_columns x0, x1, x2, x3, multiply
    begin_sums zeros
    ld1     {\x0\().16b, \x1\().16b, \x2\().16b, \x3\().16b}, [x_block], #64
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [w_block], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [w_block], #64
    dot_chunk v0, v1, \x0
    dot_chunk v2, v3, \x1
    ld1     {\x0\().4s, \x1\().4s}, [w_scale], #32
    dot_chunk v4, v5, \x2
    dot_chunk v6, v7, \x3
    \multiply v24.4s, v16.4s, \x0\().4s
    \multiply v25.4s, v17.4s, \x1\().4s
    \multiply v26.4s, v18.4s, \x0\().4s
    \multiply v27.4s, v19.4s, \x1\().4s
    \multiply v28.4s, v20.4s, \x0\().4s
    \multiply v29.4s, v21.4s, \x1\().4s
    \multiply v30.4s, v22.4s, \x0\().4s
    \multiply v31.4s, v23.4s, \x1\().4s
.endm

// y of a token += sums times d, of 4 rows each.
.macro add_token y_low, y_high, sum_low, sum_high, token
    scvtf   \sum_low\().4s, \sum_low\().4s, #2
    scvtf   \sum_high\().4s, \sum_high\().4s, #2
    fmul    v13.4s, v8.4s, v12.s[\token]
    fmul    v14.4s, v9.4s, v12.s[\token]
    fmla    \y_low\().4s, \sum_low\().4s, v13.4s
    fmla    \y_high\().4s, \sum_high\().4s, v14.4s
.endm

.macro multiply_q6k
    mov     w_block, quants
    mov     w_scale, factors
    add     temp, sp, #FRAME_TILE
    add     step, sp, #FRAME_TILE + 64
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [temp]
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [step]
401:
    dot_16_columns v8, v9, v10, v11, mul
    dot_16_columns v12, v13, v14, v15, mla
.rept 7
    dot_16_columns v8, v9, v10, v11, mla
    dot_16_columns v12, v13, v14, v15, mla
.endr
    add     x_block, x_block, #128      // over the sums
    ld1     {v10.8h}, [w_scale], #16
    ld1     {v12.4s}, [x_block], #16
    fcvtl   v8.4s, v10.4h
    fcvtl2  v9.4s, v10.8h
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [temp]
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    add_token v0, v1, v24, v25, 0
    add_token v2, v3, v26, v27, 1
    add_token v4, v5, v28, v29, 2
    add_token v6, v7, v30, v31, 3
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [temp]
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [step]
    subs    count, count, #1
    b.ne    401b
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [temp]
    ld1     {v28.4s, v29.4s, v30.4s, v31.4s}, [step]
.endm

func gemm_f32_q6kx8_q8kx4_neon_dotprod, dotprod
    gemm_tiles prepare_q6k, multiply_q6k, 8, 1168, SLICE_BLOCKS, SCRATCH_BYTES
endfunc gemm_f32_q6kx8_q8kx4_neon_dotprod
