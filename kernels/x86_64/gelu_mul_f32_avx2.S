// void gelu_mul_f32_avx2(float *y, const float *gate, const float *up, size_t n)
//
// Registers and algorithm: gates.h.
#include "kernels/x86_64/gates.h"

gate gelu_mul_f32_avx2, ymm, gelu_mul_step
