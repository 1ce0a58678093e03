// void expand_f32_f32_avx2(float *y, const float *b, const float *u, size_t rows, size_t rank)
//
// Registers and algorithm: expand_avx2.h. A column of four groups: 8 instructions for
// 32 weights.
#define COLUMN_BYTES 32

#include "kernels/x86_64/expand_avx2.h"

.macro add_column y, b, at
    vfmadd231ps ymm\y, ymm8, [\at]
.endm

expand_avx2 expand_f32_f32_avx2
