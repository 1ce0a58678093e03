// void gemm_f32_q2x8_q8kx4_neon_dotprod(float *y, const void *w, const struct block_q8kx4 *x,
//                                       const struct gemm_shape *shape)
//
// x0-x17 as named in gemm_neon.h; registers and algorithm: gemm_few_neon.h
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved. 4.3 KiB of stack.
#include "kernels/arm64/gemm_few_neon.h"

gemm_few gemm_f32_q2x8_q8kx4_neon_dotprod, decode_two_4, tile_dots_4, dotprod
