/* void gemv_f32_f16_f32_rv64gc(float *restrict y, const void *restrict w,
 *                              const float *restrict x, size_t rows, size_t cols, size_t ahead)
 *
 * dot16_rv64gc.h, a gemm of one token. Instructions per weight: 8.8. */
#define WEIGHT_BYTES 2
#include "kernels/riscv64/dot16_rv64gc.h"

func gemv_f32_f16_f32_rv64gc
    li n_tokens, 1                     /* rows and cols are where they belong */
    dot_rows f16
    ret
endfunc
