// void add_f32_avx2(float *y, const float *x, size_t n)
//
// Registers and algorithm: elementwise.h.
#include "kernels/x86_64/elementwise.h"

elementwise add_f32_avx2, ymm, add_step
