// void gemv_f32_fig4x8_q8k_avx2_vnni(float *y, const void *w, const struct block_q8k *x,
//                                    size_t rows, size_t cols, const struct nibble_table *table)
//
// Registers and algorithm: gemv_table_avx2_vnni.h.
#include "kernels/x86_64/gemv_table_avx2_vnni.h"

func gemv_f32_fig4x8_q8k_avx2_vnni
    gemv_table block_fig4, 7, FIG4_BYTES, 0
endfunc gemv_f32_fig4x8_q8k_avx2_vnni
