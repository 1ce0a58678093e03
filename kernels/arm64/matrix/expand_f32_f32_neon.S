// void expand_f32_f32_neon(float *y, const float *b, const float *u, size_t rows, size_t rank)
//
// Registers and algorithm: expand_neon.h. Four columns of two groups take 23 instructions for 64
// weights. 576 rows of rank 8 take 2055 instructions: 5984 cycles in the model of Cortex-A53, which
// waits for the four sums, 1786 in that of Cortex-A72 (llvm-mca 19).
#define COLUMN_SHIFT 5
#include "kernels/arm64/matrix/expand_neon.h"

.macro add_pair groups, first, second
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [expand_first], #64
.if \groups == 2
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [expand_second], #64
.endif
    fmla    v16.4s, v4.4s, v0.s[\first]
    fmla    v17.4s, v5.4s, v0.s[\first]
.if \groups == 2
    fmla    v18.4s, v20.4s, v0.s[\first]
    fmla    v19.4s, v21.4s, v0.s[\first]
.endif
    fmla    v16.4s, v6.4s, v0.s[\second]
    fmla    v17.4s, v7.4s, v0.s[\second]
.if \groups == 2
    fmla    v18.4s, v22.4s, v0.s[\second]
    fmla    v19.4s, v23.4s, v0.s[\second]
.endif
.endm

.macro add_four groups
    add_pair \groups, 0, 1
    add_pair \groups, 2, 3
.endm

.macro add_one groups
    ld1     {v4.4s, v5.4s}, [expand_first], #32
    fmla    v16.4s, v4.4s, v0.s[0]
    fmla    v17.4s, v5.4s, v0.s[0]
.if \groups == 2
    ld1     {v20.4s, v21.4s}, [expand_second], #32
    fmla    v18.4s, v20.4s, v0.s[0]
    fmla    v19.4s, v21.4s, v0.s[0]
.endif
.endm

func expand_f32_f32_neon
    expand_floats
endfunc expand_f32_f32_neon
