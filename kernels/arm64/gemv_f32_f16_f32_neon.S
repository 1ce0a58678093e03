// void gemv_f32_f16_f32_neon(float *y, const void *w, const float *x, size_t rows, size_t cols,
//                            size_t ahead)
//
// gemv_floats of floats_neon.h. Four rows and 16 columns take 16 fma, 16 conversions and 5 loads:
// bound by 2 bytes a weight from memory on any core.
#define WEIGHT_SHIFT 1
#include "kernels/arm64/floats_neon.h"

.macro load_weights pointer
    load_f16 \pointer
.endm

func gemv_f32_f16_f32_neon
    gemv_floats
endfunc gemv_f32_f16_f32_neon
