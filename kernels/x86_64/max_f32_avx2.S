// float max_f32_avx2(const float *x, size_t n)
//
// rdi x  rsi n, at least 1; both are used up
// Clobbers rax, rdi, rsi, ymm0-ymm6; returns in xmm0.
//
// 16 elements a step, aims at 4 cycles for them, the latency of max. The pass is in
// softmax_passes.h.
#include "kernels/x86_64/softmax_passes.h"

#define cursor rdi
#define left rsi

func max_f32_avx2
    max_pass cursor, left
endfunc max_f32_avx2
