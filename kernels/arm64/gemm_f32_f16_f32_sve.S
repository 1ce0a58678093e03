// void gemm_f32_f16_f32_sve(float *y, const void *w, const float *x,
//                           const struct gemm_shape *shape)
//
// gemm_floats_any of floats_sve.h: for 4 tokens and 16 columns 31 instructions for 4 rows at 512
// bits, 36 for 2 rows at 256.
#define WEIGHT_SHIFT 1
#include "kernels/arm64/floats_sve.h"

.macro load_weights pointer
    load_f16 \pointer
.endm

.macro load_weight z, row, index
    load_weight_f16 \z, \row, \index
.endm

func gemm_f32_f16_f32_sve, sve
    gemm_floats_any
endfunc gemm_f32_f16_f32_sve
