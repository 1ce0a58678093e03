// void gemm_f32_f32_f32_avx2(float *y, const void *w, const float *x,
//                            const struct gemm_shape *shape)
//
// Registers and algorithm: gemm_floats_avx2.h.
#include "kernels/x86_64/gemm_floats_avx2.h"

gemm_floats gemm_f32_f32_f32_avx2, load_f32, 4
