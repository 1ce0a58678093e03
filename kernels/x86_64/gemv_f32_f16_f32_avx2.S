// void gemv_f32_f16_f32_avx2(float *y, const void *w, const float *x, size_t rows, size_t cols,
//                            size_t ahead)
//
// rdi y  rsi w  rdx x  rcx rows  r8 cols, then bytes of a row  r9 ahead, not used
// rax bytes into a row
// ymm0 and ymm1 16 lanes, ymm2 and ymm3 weights
// Clobbers rax, rcx, rdi, rsi, r8, ymm0-ymm3.
//
// One row after the other, as in gemv_f32_f32_f32_avx2.S. A row's chains of fma take 4 cycles for
// 32 bytes, half of what memory could bring; the next row's overlap with them, as long as both
// are within what the core looks ahead, about 800 columns.
#include "kernels/x86_64/asm.h"

#define out rdi
#define weights rsi
#define vector rdx
#define n_rows rcx
#define row_bytes r8
#define position rax

func gemv_f32_f16_f32_avx2
    test    n_rows, n_rows
    jz      4f
    add     row_bytes, row_bytes
1:
    vxorps  xmm0, xmm0, xmm0
    vxorps  xmm1, xmm1, xmm1
    xor     eax, eax
    test    row_bytes, row_bytes
    jz      3f
2:
    vcvtph2ps ymm2, [weights + position]
    vcvtph2ps ymm3, [weights + position + 16]
    vfmadd231ps ymm0, ymm2, [vector + 2*position]
    vfmadd231ps ymm1, ymm3, [vector + 2*position + 32]
    add     position, 32
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
endfunc gemv_f32_f16_f32_avx2
