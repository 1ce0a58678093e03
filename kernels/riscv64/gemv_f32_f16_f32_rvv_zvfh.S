/* void gemv_f32_f16_f32_rvv_zvfh(float *restrict y, const void *restrict w,
 *                                const float *restrict x,
 *                                size_t rows, size_t cols, size_t ahead)
 *
 * gemv_rows_rvv.h. Instructions per 64 weights at VLEN 128: 18; at 256: 11. */
#define WEIGHT_BYTES 2
#include "kernels/riscv64/gemv_rows_rvv.h"

func gemv_f32_f16_f32_rvv_zvfh, v
    gemv zvfh
    ret
endfunc
