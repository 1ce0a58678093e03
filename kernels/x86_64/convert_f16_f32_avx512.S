// void convert_f16_f32_avx512(uint16_t *y, const float *x, size_t n)
//
// rdi y  rsi x  rdx n; all are used up  zmm0 values
// Clobbers rax, rdx, rdi, rsi, zmm0, k1.
//
// 16 elements a step, rounded to nearest even by the instruction's own field, whatever MXCSR says.
#include "kernels/x86_64/avx512.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx
#define NEAREST_EVEN 0

.macro convert_sixteen k, z
    vmovups zmm0\k\z, [vector]
    add     vector, 64
    vcvtps2ph ymmword ptr [out]\k, zmm0, NEAREST_EVEN
    add     out, 32
.endm

func convert_f16_f32_avx512
    for_sixteens left, left_32, convert_sixteen
endfunc convert_f16_f32_avx512
