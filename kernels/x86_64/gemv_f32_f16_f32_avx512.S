// void gemv_f32_f16_f32_avx512(float *y, const void *w, const float *x, size_t rows, size_t cols,
//                              size_t ahead)
//
// Registers and algorithm: gemv_floats.h.
#include "kernels/x86_64/gemv_floats.h"

gemv_floats gemv_f32_f16_f32_avx512, multiply_f16_avx512, fold_zmm, 2
