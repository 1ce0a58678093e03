// void relu2_mul_f32_avx2(float *y, const float *gate, const float *up, size_t n)
//
// Registers and algorithm: gates.h.
#include "kernels/x86_64/gates.h"

func relu2_mul_f32_avx2
    vxorps  xmm8, xmm8, xmm8
    for_vectors ymm, left, left_32, relu2_mul_step
endfunc relu2_mul_f32_avx2
