// void gemv_f32_q8x8_q8_avx2_vnni(float *y, const void *w, const struct block_q8 *x, size_t rows,
//                                 size_t cols, size_t ahead)
//
// Registers and algorithm: gemv_avx2_vnni.h. 272 bytes of weights a group and block; a sum begins
// at -128 * sum(x), because a weight is made unsigned by flipping its top bit.
#include "kernels/x86_64/gemv_avx2_vnni.h"

gemv_vnni gemv_f32_q8x8_q8_avx2_vnni, unpack_q8, Q8X8_BYTES, 7, 0x80808080
