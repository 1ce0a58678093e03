// void sigmoid_mul_f32_avx2(float *y, const float *x, const float *gate, size_t n)
//
// Registers and algorithm: gates.h; rsi x  rdx gate.
#include "kernels/x86_64/gates.h"

gate sigmoid_mul_f32_avx2, ymm, sigmoid_mul_step
