// void gemm_f32_f32_f32_avx2(float *y, const void *w, const float *x,
//                            const struct gemm_shape *shape)
//
// Registers and algorithm: floats.h.
#include "kernels/x86_64/floats.h"

gemm_floats gemm_f32_f32_f32_avx2, load_weights_f32, 4
