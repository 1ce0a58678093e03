/* void gemm_f32_f32_f32_rv64gc(float *restrict y, const void *restrict w,
 *                              const float *restrict x,
 *                              const struct gemm_shape *restrict shape)
 *
 * dot16_rv64gc.h. Instructions per weight and token: 2.8. */
#define WEIGHT_BYTES 4
#include "kernels/riscv64/dot16_rv64gc.h"

func gemm_f32_f32_f32_rv64gc
    load_shape
    dot_rows f32
    ret
endfunc
