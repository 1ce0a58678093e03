// float max_f32_avx512(const float *x, size_t n)
//
// rdi x  rsi n, at least 1; both are used up
// Clobbers rax, rdi, rsi, zmm0, zmm1, k1; returns in xmm0.
//
// 16 elements a step, aims at 4 cycles for them, the latency of max.
#include "kernels/x86_64/softmax_avx512.h"

func max_f32_avx512
    max_pass
endfunc max_f32_avx512
