// float exp_sum_f32_avx512(float *x, size_t n, float max)
//
// rdi x  rsi n  xmm0 max; the first two are used up
// Clobbers rax, rdi, rsi, zmm0-zmm3, zmm8-zmm10, k1; returns in xmm0.
//
// 16 elements a step, 16 instructions for their e^x: aims at 18 cycles.
#include "kernels/x86_64/softmax_avx512.h"

func exp_sum_f32_avx512
    vbroadcastss zmm10, xmm0
    exp_sum_pass
    vmovaps xmm0, xmm8
endfunc exp_sum_f32_avx512
