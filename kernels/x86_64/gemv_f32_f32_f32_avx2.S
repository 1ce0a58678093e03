// void gemv_f32_f32_f32_avx2(float *y, const void *w, const float *x, size_t rows, size_t cols,
//                            size_t ahead)
//
// Registers and algorithm: gemv_floats.h.
#include "kernels/x86_64/gemv_floats.h"

gemv_floats gemv_f32_f32_f32_avx2, multiply_f32_avx2, fold_lanes, 4
