// float max_f32_avx2(const float *x, size_t n)
//
// Registers and algorithm: softmax.h; n at least 1, returns in xmm0.
// Clobbers rax, rdi, rsi, ymm0-ymm3, ymm14, ymm15.
#include "kernels/x86_64/softmax.h"

func max_f32_avx2
    max_pass_avx2
endfunc max_f32_avx2
