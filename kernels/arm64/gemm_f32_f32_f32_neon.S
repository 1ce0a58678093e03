// void gemm_f32_f32_f32_neon(float *y, const void *w, const float *x,
//                            const struct gemm_shape *shape)
//
// gemm_floats of floats_neon.h. Four tokens and 16 columns take 16 fma and 5 loads: 88 cycles in
// the model of Cortex-A53, 20 in that of Cortex-A72, 10 in that of Neoverse N1 (llvm-mca 19).
#define WEIGHT_SHIFT 2
#include "kernels/arm64/floats_neon.h"

.macro load_weights pointer
    load_f32 \pointer
.endm

func gemm_f32_f32_f32_neon
    gemm_floats
endfunc gemm_f32_f32_f32_neon
