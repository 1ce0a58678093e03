// void gemm_f32_q8x8_q8x4_neon_i8mm(float *y, const void *w, const struct block_q8x4 *x,
//                                   const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved.
//
// Unlike the kernel with the dot product this one copies the weights, as pairs of rows. A block of
// 8 rows takes a token 8 smmla, 2 zip and 6 others in the vector pipes, 19.5 instructions in all:
// 5.0 cycles in the model of Neoverse V1 (llvm-mca 19).
#include "kernels/arm64/matrix/gemm/gemm_neon_i8mm.h"

#define SLICE_BLOCKS 24
#define SCRATCH_BYTES (SLICE_BLOCKS * (256 + PREPARED_SCALES))

.macro prepare_q8_pairs
    add     factors, sp, #FRAME_SCRATCH
    add     quants, factors, #SLICE_BLOCKS * PREPARED_SCALES
    mov     w_scale, factors
    mov     w_block, quants
    place_magic MAGIC
    mov     v18.16b, v3.16b
    mov     blocks_left, slice
.Lblock\@:
    ld1     {v0.8h}, [weights], #16
    fcvtl   v16.4s, v0.4h
    fcvtl2  v17.4s, v0.8h
    st1     {v16.4s, v17.4s, v18.4s}, [w_scale], #PREPARED_SCALES
    pair_rows weights, w_block, #64, #64
    pair_rows weights, w_block, #64, #64
    pair_rows weights, w_block, #64, #64
    subs    blocks_left, blocks_left, #1
    pair_rows weights, w_block, #64, #64
    b.ne    .Lblock\@
    mov     step, #Q8X4_BYTES - Q8X4_SCALE // for the tile: over d and sum
.endm

func gemm_f32_q8x8_q8x4_neon_i8mm, i8mm
    gemm_tiles prepare_q8_pairs, multiply_pairs_32, COLS_LOG2, Q8X4_BYTES, SLICE_BLOCKS, \
               SCRATCH_BYTES
endfunc gemm_f32_q8x8_q8x4_neon_i8mm
