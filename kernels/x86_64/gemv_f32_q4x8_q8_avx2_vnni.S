// void gemv_f32_q4x8_q8_avx2_vnni(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                                 size_t cols, size_t ahead)
//
// Registers and algorithm: gemv_avx2_vnni.h. 144 bytes of weights a group and block; a sum begins
// at -8 * sum(x), because nibbles stay unsigned.
#include "kernels/x86_64/gemv_avx2_vnni.h"

gemv_vnni gemv_f32_q4x8_q8_avx2_vnni, unpack_q4, Q4X8_BYTES, 3, 0x0f0f0f0f
