// void gemm_f32_t4x8_q8x4_avx2_vnni(float *y, const void *w, const struct block_q8x4 *x,
//                                   const struct gemm_shape *shape,
//                                   const struct nibble_table *table)
//
// Registers and algorithm: gemm_table_avx2_vnni.h.
#include "kernels/x86_64/gemm_table_avx2_vnni.h"

gemm_table gemm_f32_t4x8_q8x4_avx2_vnni, block_t4, 5, Q4X8_BYTES, Q8X4_BYTES
