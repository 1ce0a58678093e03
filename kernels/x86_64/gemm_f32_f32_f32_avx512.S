// void gemm_f32_f32_f32_avx512(float *y, const void *w, const float *x,
//                              const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_floats_avx512.h.
#include "kernels/x86_64/gemm_floats_avx512.h"

gemm_floats gemm_f32_f32_f32_avx512, load_f32, 4
