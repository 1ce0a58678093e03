// void convert_f32_f16_avx2(float *y, const uint16_t *x, size_t n)
//
// rdi y; rsi x; rdx n; all are changed;
// ymm0 values, ymm1 mask of the tail.
// Clobbers rax, rcx, rdx, rdi, rsi, ymm0, ymm1.
//
// A step takes eight elements and 1.2 cycles.
#include "kernels/x86_64/asm.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx

func convert_f32_f16_avx2
    sub     left, 8
    jb      2f
1:
    vcvtph2ps ymm0, [vector]
    vmovups [out], ymm0
    add     vector, 16
    add     out, 32
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      3f
    load_ragged_halves 0, vector, left_32
    vcvtph2ps ymm0, xmm0
    lane_mask 1, left
    vmaskmovps [out], ymm1, ymm0
3:
endfunc convert_f32_f16_avx2
