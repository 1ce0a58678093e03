// void gemv_f32_t4x8_q8_avx2_vnni(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                                 size_t cols, const struct nibble_table *table)
//
// Registers and algorithm: gemv_table_avx2_vnni.h.
#include "kernels/x86_64/gemv_table_avx2_vnni.h"

func gemv_f32_t4x8_q8_avx2_vnni
    gemv_table block_t4, 5, Q4X8_BYTES, Q8_BYTES
endfunc gemv_f32_t4x8_q8_avx2_vnni
