/* void gemv_f32_f32_f32_rvv(float *restrict y, const void *restrict w,
 *                           const float *restrict x,
 *                           size_t rows, size_t cols, size_t ahead)
 *
 * gemv_rows_rvv.h. Instructions per 64 weights at VLEN 128: 9.5; at 256: 7. */
#define WEIGHT_BYTES 4
#include "kernels/riscv64/gemv_rows_rvv.h"

func gemv_f32_f32_f32_rvv, v
    gemv f32
    ret
endfunc
