// float exp_sum_f32_neon(float *x, size_t n, float max)
//
// x0 x; x1 n; s0 max;
// x2 tail, v8-v11 sixteen lanes of the sum, v24-v29 constants, v30 max.
// Clobbers x0-x2, x8-x17, v0-v7, v16-v30; d8-d15 are saved; 128 bytes of stack.
//
// exp_sum_pass of softmax_passes_neon.h: 16 elements take 87 instructions for e^x and 14 others,
// 181 cycles in the model of Cortex-A53, 125 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/vector/softmax_passes_neon.h"

#define vector x0
#define length x1
#define tail x2
#define word w8

func exp_sum_f32_neon
    save_vectors
    dup     v30.4s, v0.s[0]
    exp_constants EXP_K_ZERO
    mov_word word, F32_89
    dup     exp_greatest.4s, word
    exp_sum_pass exp_sixteen, vector, length, tail
    fmov    s0, s8
    restore_vectors
    ret
endfunc exp_sum_f32_neon
