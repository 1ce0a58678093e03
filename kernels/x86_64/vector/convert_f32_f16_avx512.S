// void convert_f32_f16_avx512(float *y, const uint16_t *x, size_t n)
//
// rdi y; rsi x; rdx n; all are changed; zmm0 values.
// Clobbers rax, rdx, rdi, rsi, zmm0, k1.
//
// Takes 16 elements per step.
#include "kernels/x86_64/vector/vectors.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx

.macro convert_sixteen v, tail
    .ifb \tail
    vcvtph2ps zmm0, [vector]
    .else
    vcvtph2ps zmm0{k1}{z}, [vector]
    .endif
    add     vector, 32
    store   zmm, 0, out, \tail
    add     out, 64
.endm

func convert_f32_f16_avx512
    for_vectors zmm, left, left_32, convert_sixteen
endfunc convert_f32_f16_avx512
