// void gemv_f32_f32_f32_sve(float *y, const void *w, const float *x, size_t rows, size_t cols,
//                           size_t ahead)
//
// gemv_floats_any of floats_sve.h: bound by 4 bytes a weight from memory.
#define WEIGHT_SHIFT 2
#include "kernels/arm64/floats_sve.h"

.macro load_weights pointer
    load_f32 \pointer
.endm

.macro load_weight z, row, index
    load_weight_f32 \z, \row, \index
.endm

.macro prefetch_weights row, index
    prfw    pldl1strm, p0, [\row, \index, lsl #2]
.endm

func gemv_f32_f32_f32_sve, sve
    gemv_floats_any
endfunc gemv_f32_f32_f32_sve
