// void gemm_f32_f16_f32_neon(float *y, const void *w, const float *x,
//                               const struct gemm_shape *shape)
//
// gemm_floats of floats.h. Four tokens and 16 columns take 16 fma, 4 conversions and 5 loads: aims at
// 11 cycles for them on Cortex-A76, bound by the loads and conversions.
#define WEIGHT_SHIFT 1
#include "kernels/arm64/floats.h"

.macro load_weights pointer
    load_f16 \pointer
.endm

func gemm_f32_f16_f32_neon
    gemm_floats
endfunc gemm_f32_f16_f32_neon
