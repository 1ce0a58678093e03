// void expand_f32_f16_avx2(float *y, const uint16_t *b, const float *u, size_t rows, size_t rank)
//
// Registers and algorithm: expand_avx2.h. A column of four groups: 12 instructions for
// 32 weights.
#define COLUMN_BYTES 16

#include "kernels/x86_64/expand_avx2.h"

.macro add_column y, b, at
    vcvtph2ps ymm\b, [\at]
    vfmadd231ps ymm\y, ymm\b, ymm8
.endm

expand_avx2 expand_f32_f16_avx2
