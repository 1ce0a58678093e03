// void expand_f32_f16_neon(float *y, const uint16_t *b, const float *u, size_t rows, size_t rank)
//
// Registers and algorithm: expand_neon.h. Four columns of two groups take 37 instructions for 64
// weights. 576 rows of rank 8 take 3063 instructions: 5408 cycles in the model of Cortex-A53, 2913
// in that of Cortex-A72, 2396 in that of Neoverse N1 (llvm-mca 19).
#define COLUMN_SHIFT 4
#include "kernels/arm64/matrix/expand_neon.h"

// v\a, v\b, v\c and v\e = one column of both groups as f32.
.macro widen groups, first, second, a, b, c, e
    fcvtl   v\a\().4s, v\first\().4h
    fcvtl2  v\b\().4s, v\first\().8h
.if \groups == 2
    fcvtl   v\c\().4s, v\second\().4h
    fcvtl2  v\e\().4s, v\second\().8h
.endif
.endm

.macro add_column groups, lane, a, b, c, e
    fmla    v16.4s, v\a\().4s, v0.s[\lane]
    fmla    v17.4s, v\b\().4s, v0.s[\lane]
.if \groups == 2
    fmla    v18.4s, v\c\().4s, v0.s[\lane]
    fmla    v19.4s, v\e\().4s, v0.s[\lane]
.endif
.endm

// Widen the next column before adding one.
.macro add_four groups
    ld1     {v4.8h, v5.8h, v6.8h, v7.8h}, [expand_first], #64
.if \groups == 2
    ld1     {v20.8h, v21.8h, v22.8h, v23.8h}, [expand_second], #64
.endif
    widen   \groups, 4, 20, 24, 25, 26, 27
    widen   \groups, 5, 21, 28, 29, 30, 31
    add_column \groups, 0, 24, 25, 26, 27
    widen   \groups, 6, 22, 24, 25, 26, 27
    add_column \groups, 1, 28, 29, 30, 31
    widen   \groups, 7, 23, 28, 29, 30, 31
    add_column \groups, 2, 24, 25, 26, 27
    add_column \groups, 3, 28, 29, 30, 31
.endm

.macro add_one groups
    ld1     {v4.8h}, [expand_first], #16
.if \groups == 2
    ld1     {v20.8h}, [expand_second], #16
.endif
    widen   \groups, 4, 20, 24, 25, 26, 27
    add_column \groups, 0, 24, 25, 26, 27
.endm

func expand_f32_f16_neon
    expand_floats
endfunc expand_f32_f16_neon
