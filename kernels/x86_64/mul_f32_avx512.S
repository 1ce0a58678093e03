// void mul_f32_avx512(float *y, const float *a, const float *b, size_t n)
//
// Registers and algorithm: gates.h.
#include "kernels/x86_64/gates.h"

gate mul_f32_avx512, zmm, mul_step
