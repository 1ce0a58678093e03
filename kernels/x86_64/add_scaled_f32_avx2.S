// void add_scaled_f32_avx2(float *y, const float *x, size_t n, float factor)
//
// Registers and algorithm: elementwise.h; xmm0 factor.
#include "kernels/x86_64/elementwise.h"

func add_scaled_f32_avx2
    vbroadcastss ymm8, xmm0
    for_vectors ymm, left, left_32, add_scaled_step
endfunc add_scaled_f32_avx2
