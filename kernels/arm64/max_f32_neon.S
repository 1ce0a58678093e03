// float max_f32_neon(const float *x, size_t n)
//
// x0 x  x1 n, at least 1
// Clobbers x0, x1, v0-v7, v16-v19.
//
// max_pass of softmax_passes_neon.h: 16 elements take 4 comparisons and 4 selections; of 128 they
// are 26 cycles in the model of Cortex-A53, 14 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/softmax_passes_neon.h"

#define cursor x0
#define left x1

func max_f32_neon
    max_pass cursor, left
    ret
endfunc max_f32_neon
