// void gemm_f32_q51x8_q8x4_neon(float *y, const void *w, const struct block_q8x4 *x,
//                              const struct gemm_shape *shape)
//
// x0-x17 as named in gemm_neon.h; the tile is in gemm_mins_neon.h
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved. 4.4 KiB of stack.
#include "kernels/arm64/gemm_mins_neon.h"

.macro decode_q51
    decode_mins 1, 1
.endm

.macro tile_q51
    tile_mins 1, 1
.endm

func gemm_f32_q51x8_q8x4_neon
    gemm_mins decode_q51, tile_q51
endfunc gemm_f32_q51x8_q8x4_neon
