// void convert_f32_f16_avx512(float *y, const uint16_t *x, size_t n)
//
// rdi y  rsi x  rdx n; all are used up  zmm0 values
// Clobbers rax, rdx, rdi, rsi, zmm0, k1.
//
// 16 elements a step: aims at 2 cycles.
#include "kernels/x86_64/avx512.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx

.macro convert_sixteen k, z
    vcvtph2ps zmm0\k\z, [vector]
    add     vector, 32
    vmovups [out]\k, zmm0
    add     out, 64
.endm

func convert_f32_f16_avx512
    for_sixteens left, left_32, convert_sixteen
endfunc convert_f32_f16_avx512
