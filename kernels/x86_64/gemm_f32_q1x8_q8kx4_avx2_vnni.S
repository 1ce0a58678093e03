// void gemm_f32_q1x8_q8kx4_avx2_vnni(float *y, const void *w, const struct block_q8kx4 *x,
//                                    const struct gemm_shape *shape)
//
// Registers and algorithm: few.h.
#define PARTS 2
#define FEW_VNNI
#define FEW_VEX
#include "kernels/x86_64/tiles_avx2.h"
#include "kernels/x86_64/few.h"

gemm_few gemm_f32_q1x8_q8kx4_avx2_vnni, gemm_block_q1, 0x01010101, Q1_BYTES
