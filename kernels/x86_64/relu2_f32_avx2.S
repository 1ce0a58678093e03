// void relu2_f32_avx2(float *y, const float *x, size_t n)
//
// Registers and algorithm: elementwise.h.
#include "kernels/x86_64/elementwise.h"

func relu2_f32_avx2
    vxorps  xmm8, xmm8, xmm8
    for_vectors ymm, left, left_32, relu2_step
endfunc relu2_f32_avx2
