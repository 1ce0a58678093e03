// float max_f32_avx512(const float *x, size_t n)
//
// Registers and algorithm: softmax.h; n at least 1, returns in xmm0.
// Clobbers rax, rdi, rsi, zmm0, zmm1, k1.
#include "kernels/x86_64/softmax.h"

func max_f32_avx512
    max_pass_avx512
endfunc max_f32_avx512
