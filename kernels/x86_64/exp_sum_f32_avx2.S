// float exp_sum_f32_avx2(float *x, size_t n, float max)
//
// Registers and algorithm: softmax.h; xmm0 max, returns in xmm0.
// Clobbers rax, rdi, rsi, ymm0-ymm10, ymm14, ymm15.
#include "kernels/x86_64/softmax.h"

func exp_sum_f32_avx2
    vbroadcastss ymm10, xmm0
    exp_sum_pass_avx2
    vmovaps xmm0, xmm8
endfunc exp_sum_f32_avx2
