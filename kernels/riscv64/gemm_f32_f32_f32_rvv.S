/* void gemm_f32_f32_f32_rvv(float *restrict y, const void *restrict w,
 *                           const float *restrict x,
 *                           const struct gemm_shape *restrict shape)
 *
 * gemm_rows_rvv.h. Instructions per 64 weights and token at VLEN 128: 9.5; at 256: 7. */
#define WEIGHT_BYTES 4
#include "kernels/riscv64/gemm_rows_rvv.h"

func gemm_f32_f32_f32_rvv, v
    gemm f32
    ret
endfunc
