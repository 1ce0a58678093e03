/* void gemm_f32_f16_f32_rvv_zvfh(float *restrict y, const void *restrict w,
 *                                const float *restrict x,
 *                                const struct gemm_shape *restrict shape)
 *
 * gemm_rows_rvv.h. Instructions per 64 weights and token at VLEN 128: 11.5; at 256: 8. */
#define WEIGHT_BYTES 2
#include "kernels/riscv64/gemm_rows_rvv.h"

func gemm_f32_f16_f32_rvv_zvfh, v
    gemm zvfh
    ret
endfunc
