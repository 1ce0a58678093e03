// void gemm_f32_fig4x8_q8kx4_avx2_vnni(float *y, const void *w, const struct block_q8kx4 *x,
//                                      const struct gemm_shape *shape,
//                                      const struct nibble_table *table)
//
// Registers and algorithm: gemm_table_avx2_vnni.h.
#include "kernels/x86_64/gemm_table_avx2_vnni.h"

gemm_table gemm_f32_fig4x8_q8kx4_avx2_vnni, block_fig4, 7, FIG4_BYTES, 0
