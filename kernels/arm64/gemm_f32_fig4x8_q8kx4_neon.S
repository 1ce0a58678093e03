// void gemm_f32_fig4x8_q8kx4_neon(float *y, const void *w, const struct block_q8kx4 *x,
//                              const struct gemm_shape *shape, const struct nibble_table *table)
//
// x0-x17 as named in gemm_neon.h, x4 table at first; the tile is in gemm_int8_neon.h
// Clobbers x0-x17, v0-v7, v16-v31; x19 and d8-d15 are saved. 4.3 KiB of stack.
//
// Blocks become those of Q8_0 in scratch once for 64 tokens. No value is -128, so that two products
// fit an int16.
#include "kernels/arm64/gemm_int8_neon.h"

#define SLICE_BLOCKS 8
#define SCRATCH_BYTES (SLICE_BLOCKS * Q8X8_BYTES)

func gemm_f32_fig4x8_q8kx4_neon
    push_pair x19, x20, 16
    mov     table_at, x4
    gemm_begin SCRATCH_BYTES, COLS_LOG2, Q8X4_BYTES
    gemm_loops decode_fig4, tile_decoded, Q8X4_BYTES, SLICE_BLOCKS
    gemm_end SCRATCH_BYTES, pop_table
endfunc gemm_f32_fig4x8_q8kx4_neon
