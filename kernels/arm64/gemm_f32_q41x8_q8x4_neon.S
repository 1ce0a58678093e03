// void gemm_f32_q41x8_q8x4_neon(float *y, const void *w, const struct block_q8x4 *x,
//                              const struct gemm_shape *shape)
//
// x0-x17 as named in gemm_neon.h; the tile is in gemm_mins_neon.h
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved. 4.4 KiB of stack.
#include "kernels/arm64/gemm_mins_neon.h"

.macro decode_q41
    decode_mins 0, 1
.endm

.macro tile_q41
    tile_mins 0, 1
.endm

func gemm_f32_q41x8_q8x4_neon
    gemm_mins decode_q41, tile_q41
endfunc gemm_f32_q41x8_q8x4_neon
