// void gemm_f32_q41x8_q8x4_avx2_vnni(float *y, const void *w, const struct block_q8x4 *x,
//                                    const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_mins_avx2.h. 160 bytes of weights a group and block.
#define AVX_VNNI
#include "kernels/x86_64/gemm_mins_avx2.h"

gemm_mins gemm_f32_q41x8_q8x4_avx2_vnni, Q41_BYTES, Q41_QUANTS, 0, Q41_MINS
