// void gemm_f32_f16_f32_neon(float *y, const void *w, const float *x,
//                            const struct gemm_shape *shape)
//
// gemm_floats of floats_neon.h. Four tokens and 16 columns take 16 fma, 4 conversions and 5 loads:
// 95 cycles in the model of Cortex-A53, 22 in that of Cortex-A72, 14 in that of Neoverse N1
// (llvm-mca 19).
#define WEIGHT_SHIFT 1
#include "kernels/arm64/floats_neon.h"

.macro load_weights pointer
    load_f16 \pointer
.endm

func gemm_f32_f16_f32_neon
    gemm_floats
endfunc gemm_f32_f16_f32_neon
