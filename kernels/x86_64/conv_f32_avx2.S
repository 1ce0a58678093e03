// void conv_f32_avx2(float *y, const float *x, const float *w, const float *bias,
//                    const struct conv_shape *shape)
//
// Registers and algorithm: conv.h.
#include "kernels/x86_64/conv.h"

conv conv_f32_avx2, ymm
