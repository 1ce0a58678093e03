// void gemv_f32_q2x8_q8k_avx2_vnni(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                                  size_t cols, size_t ahead)
//
// Registers and algorithm: few.h.
#define PARTS 4
#define FEW_VNNI
#define FEW_VEX
#include "kernels/x86_64/gemv_rows.h"
#include "kernels/x86_64/few.h"

gemv_few gemv_f32_q2x8_q8k_avx2_vnni, gemv_block_q2, 0x03030303, Q2_BYTES
