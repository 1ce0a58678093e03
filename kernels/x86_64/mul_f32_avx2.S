// void mul_f32_avx2(float *y, const float *a, const float *b, size_t n)
//
// Registers and algorithm: gates.h.
#include "kernels/x86_64/gates.h"

gate mul_f32_avx2, ymm, mul_step
