// void softmax_f32_avx512(float *x, size_t n)
//
// Registers and algorithm: softmax.h; n at least 1.
// Clobbers rax, rcx, rdx, rdi, rsi, zmm0-zmm3, zmm8-zmm10, k1, k7.
#include "kernels/x86_64/softmax.h"

softmax softmax_f32_avx512, avx512, zmm
