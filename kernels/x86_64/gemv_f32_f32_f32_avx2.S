// void gemv_f32_f32_f32_avx2(float *y, const void *w, const float *x, size_t rows, size_t cols,
//                            size_t ahead)
//
// rdi y  rsi w  rdx x  rcx rows  r8 cols, then bytes of a row  r9 ahead, not used
// rax bytes into a row
// ymm0 and ymm1 16 lanes, ymm2 and ymm3 x
// Clobbers rax, rcx, rdi, rsi, r8, ymm0-ymm3.
//
// One row after the other, so that w is read as one stream from end to end: with four rows side
// by side the hardware's prefetching falls behind, 35 tokens a second instead of 58 (Zen 4, a
// model of 539 MB), and software prefetching makes up only a part of it. The latency of fma, 4
// cycles for 64 bytes, is hidden behind memory, and partly by the next row.
#include "kernels/x86_64/asm.h"

#define out rdi
#define weights rsi
#define vector rdx
#define n_rows rcx
#define row_bytes r8
#define position rax

func gemv_f32_f32_f32_avx2
    test    n_rows, n_rows
    jz      4f
    shl     row_bytes, 2
1:
    vxorps  xmm0, xmm0, xmm0
    vxorps  xmm1, xmm1, xmm1
    xor     eax, eax
    test    row_bytes, row_bytes
    jz      3f
2:
    vmovups ymm2, [vector + position]
    vmovups ymm3, [vector + position + 32]
    vfmadd231ps ymm0, ymm2, [weights + position]
    vfmadd231ps ymm1, ymm3, [weights + position + 32]
    add     position, 64
    cmp     position, row_bytes
    jb      2b
    add     weights, row_bytes
3:
    fold_lanes 0, 1
    vmovss  dword ptr [out], xmm0
    add     out, 4
    dec     n_rows
    jnz     1b
4:
endfunc gemv_f32_f32_f32_avx2
