// void gelu_mul_f32_avx512(float *y, const float *gate, const float *up, size_t n)
//
// rdi y  rsi gate  rdx up  rcx n; all are used up
// zmm0 value, zmm4 gate, zmm1-zmm3, zmm5-zmm7 and zmm16 scratch
// Clobbers rax, rcx, rdx, rdi, rsi, zmm0-zmm7, zmm16, k1.
//
// 16 elements a step, read before y is written, so that y may be gate or up.
// 43 instructions for gelu and 7 others: aims at 45 cycles for 16 elements.
#include "kernels/x86_64/avx512.h"
#include "kernels/x86_64/gelu.h"

#define out rdi
#define gates rsi
#define ups rdx
#define left rcx
#define left_32 ecx

.macro gelu_mul_sixteen k, z
    vmovups zmm4\k\z, [gates]
    add     gates, 64
    gelu_sixteen
    vmulps  zmm0\k\z, zmm0, [ups]
    add     ups, 64
    vmovups [out]\k, zmm0
    add     out, 64
.endm

func gelu_mul_f32_avx512
    for_sixteens left, left_32, gelu_mul_sixteen
endfunc gelu_mul_f32_avx512
