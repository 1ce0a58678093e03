// void rope_f32_pairs_avx512(float *x, const float *cos_sin, size_t d)
//
// rdi x  rsi cos_sin  rdx d, even; all are used up
// zmm0 x, zmm1 cos and sin, zmm2 and zmm3 scratch, zmm4 sign of the even
// Clobbers rax, rdx, rdi, rsi, zmm0-zmm4, k1.
//
// Eight pairs a step, as in rope_f32_pairs_avx2.S: aims at 6 cycles.
#include "kernels/x86_64/avx512.h"

#define vector rdi
#define turns rsi
#define left rdx
#define left_32 edx

.macro turn_sixteen k, z
    vmovups zmm0\k\z, [vector]
    vmovups zmm1\k\z, [turns]
    add     turns, 64
    vmovsldup zmm2, zmm0            // a, a
    vmovshdup zmm3, zmm0            // b, b
    vmulps  zmm0, zmm2, zmm1
    vxorps  zmm3, zmm3, zmm4
    vpermilps zmm1, zmm1, 0xb1      // sin, cos
    vfmadd231ps zmm0, zmm3, zmm1
    vmovups [vector]\k, zmm0
    add     vector, 64
.endm

func rope_f32_pairs_avx512
    mov     eax, 0x80000000
    vpbroadcastq zmm4, rax
    for_sixteens left, left_32, turn_sixteen
endfunc rope_f32_pairs_avx512
