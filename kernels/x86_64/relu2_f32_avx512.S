// void relu2_f32_avx512(float *y, const float *x, size_t n)
//
// Registers and algorithm: elementwise.h.
#include "kernels/x86_64/elementwise.h"

func relu2_f32_avx512
    vxorps  xmm8, xmm8, xmm8
    for_vectors zmm, left, left_32, relu2_step
endfunc relu2_f32_avx512
