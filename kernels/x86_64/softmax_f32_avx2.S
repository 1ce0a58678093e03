// void softmax_f32_avx2(float *x, size_t n)
//
// Registers and algorithm: softmax.h; n at least 1.
// Clobbers rax, rcx, rdx, rdi, rsi, ymm0-ymm10, ymm13-ymm15.
#include "kernels/x86_64/softmax.h"

softmax softmax_f32_avx2, avx2, ymm
