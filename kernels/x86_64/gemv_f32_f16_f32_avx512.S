// void gemv_f32_f16_f32_avx512(float *y, const void *w, const float *x, size_t rows, size_t cols,
//                              size_t ahead)
//
// Registers and algorithm: floats_avx512.h.
#include "kernels/x86_64/floats_avx512.h"

gemv_floats gemv_f32_f16_f32_avx512, load_f16, 2
