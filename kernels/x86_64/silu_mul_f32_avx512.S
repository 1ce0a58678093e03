// void silu_mul_f32_avx512(float *y, const float *gate, const float *up, size_t n)
//
// Registers and algorithm: gates.h.
#include "kernels/x86_64/gates.h"

gate silu_mul_f32_avx512, zmm, silu_mul_step
