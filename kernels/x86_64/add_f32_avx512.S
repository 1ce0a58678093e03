// void add_f32_avx512(float *y, const float *x, size_t n)
//
// rdi y  rsi x  rdx n; all are used up  zmm0 sum
// Clobbers rax, rdx, rdi, rsi, zmm0, k1.
//
// 16 elements a step: aims at 2 cycles.
#include "kernels/x86_64/avx512.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx

.macro add_sixteen k, z
    vmovups zmm0\k\z, [out]
    vaddps  zmm0\k\z, zmm0, [vector]
    add     vector, 64
    vmovups [out]\k, zmm0
    add     out, 64
.endm

func add_f32_avx512
    for_sixteens left, left_32, add_sixteen
endfunc add_f32_avx512
