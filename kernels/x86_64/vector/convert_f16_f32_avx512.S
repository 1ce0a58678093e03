// void convert_f16_f32_avx512(uint16_t *y, const float *x, size_t n)
//
// rdi y; rsi x; rdx n; all are changed; zmm0 values.
// Clobbers rax, rdx, rdi, rsi, zmm0, k1.
//
// Takes 16 elements per step. The instruction's rounding field selects nearest even, so MXCSR does
// not matter.
#include "kernels/x86_64/vector/vectors.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx
#define NEAREST_EVEN 0

.macro convert_sixteen v, tail
    load    zmm, 0, vector, \tail
    add     vector, 64
    .ifb \tail
    vcvtps2ph ymmword ptr [out], zmm0, NEAREST_EVEN
    .else
    vcvtps2ph ymmword ptr [out]{k1}, zmm0, NEAREST_EVEN
    .endif
    add     out, 32
.endm

func convert_f16_f32_avx512
    for_vectors zmm, left, left_32, convert_sixteen
endfunc convert_f16_f32_avx512
