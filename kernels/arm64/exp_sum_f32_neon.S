// float exp_sum_f32_neon(float *x, size_t n, float max)
//
// x0 x  x1 n  s0 max
// x2 tail, v8-v11 sixteen lanes of the sum, v24-v29 constants, v30 max
// Clobbers x0-x2, x9-x12, v0-v7, v16-v30; d8-d15 are saved; 128 bytes of stack.
//
// exp_sum_pass of softmax_passes.h: 16 elements take 108 instructions for e^x and 16 others,
// aims at 125 cycles for them on Cortex-A53.
#include "kernels/arm64/softmax_passes.h"

#define vector x0
#define length x1
#define tail x2

func exp_sum_f32_neon
    save_vectors
    dup     v30.4s, v0.s[0]
    exp_constants
    exp_sum_pass vector, length, tail
    fmov    s0, s8
    restore_vectors
    ret
endfunc exp_sum_f32_neon
