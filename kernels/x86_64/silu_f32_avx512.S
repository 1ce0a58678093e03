// void silu_f32_avx512(float *y, const float *x, size_t n)
//
// Registers and algorithm: elementwise.h.
#include "kernels/x86_64/elementwise.h"

elementwise silu_f32_avx512, zmm, silu_step
