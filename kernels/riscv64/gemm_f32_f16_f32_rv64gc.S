/* void gemm_f32_f16_f32_rv64gc(float *restrict y, const void *restrict w,
 *                              const float *restrict x,
 *                              const struct gemm_shape *restrict shape)
 *
 * dot16_rv64gc.h. Instructions per weight and token: 4.4. */
#define WEIGHT_BYTES 2
#include "kernels/riscv64/dot16_rv64gc.h"

func gemm_f32_f16_f32_rv64gc
    load_shape
    dot_rows f16
    ret
endfunc
