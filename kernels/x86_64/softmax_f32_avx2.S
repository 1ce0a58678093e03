// void softmax_f32_avx2(float *x, size_t n)
//
// rdi x  rsi n, at least 1
// rdx cursor, rcx left, ymm10 max, then 1 / sum in ymm8
// Clobbers rax, rcx, rdx, rdi, rsi, ymm0-ymm12.
//
// Three passes over x, which the first level of cache holds: max, e^(x - max) with its sum,
// then times 1 / sum. Aims at 27 cycles for 16 elements.
#include "kernels/x86_64/softmax_passes.h"

#define vector rdi
#define length rsi
#define cursor rdx
#define left rcx

func softmax_f32_avx2
    mov     cursor, vector
    mov     left, length
    max_pass cursor, left
    vbroadcastss ymm10, xmm0
    mov     cursor, vector
    mov     left, length
    exp_sum_pass cursor, left
    vmovss  xmm0, dword ptr exp_one
    vdivss  xmm8, xmm0, xmm8
    vbroadcastss ymm8, xmm8
    sub     length, 8
    jb      2f
1:
    vmulps  ymm0, ymm8, [vector]
    vmovups [vector], ymm0
    add     vector, 32
    sub     length, 8
    jae     1b
2:
    add     length, 8
    jz      3f
    lane_mask 1, length
    vmaskmovps ymm0, ymm1, [vector]
    vmulps  ymm0, ymm0, ymm8
    vmaskmovps [vector], ymm1, ymm0
3:
endfunc softmax_f32_avx2
