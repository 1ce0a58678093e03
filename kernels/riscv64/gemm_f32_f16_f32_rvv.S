/* void gemm_f32_f16_f32_rvv(float *restrict y, const void *restrict w,
 *                           const float *restrict x,
 *                           const struct gemm_shape *restrict shape)
 *
 * gemm_rows_rvv.h. Instructions per 64 weights and token at VLEN 128: 13.5; at 256: 9. */
#define WEIGHT_BYTES 2
#include "kernels/riscv64/gemm_rows_rvv.h"

func gemm_f32_f16_f32_rvv, v
    gemm f16
    ret
endfunc
