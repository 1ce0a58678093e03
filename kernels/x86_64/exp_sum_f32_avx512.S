// float exp_sum_f32_avx512(float *x, size_t n, float max)
//
// Registers and algorithm: softmax.h; xmm0 max, returns in xmm0.
// Clobbers rax, rdi, rsi, zmm0-zmm3, zmm8-zmm10, k1, k7.
#include "kernels/x86_64/softmax.h"

func exp_sum_f32_avx512
    vbroadcastss zmm10, xmm0
    exp_sum_pass_avx512
    vmovaps xmm0, xmm8
endfunc exp_sum_f32_avx512
