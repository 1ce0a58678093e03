// void interleave_q8kx4_q8k_avx2(struct block_q8kx4 *y, const struct block_q8k *x, size_t n_tokens,
//                                size_t cols)
//
// Registers as interleave.h says; rax scratch, ymm0-ymm7 columns, sums and scales.
// Clobbers rax, rcx, rdx, rdi, rsi, r8-r11, ymm0-ymm7, ymm13-ymm15.
//
// A block of four tokens a step: eight transpositions of words for the columns, one of halves for
// the sums. Aims at 100 cycles.
#include "kernels/x86_64/interleave.h"

#define X_BYTES 304
#define X_SUM 256
#define X_SCALE 288
#define Y_BYTES 1168
#define Y_SUM 1024
#define Y_SCALE 1152

func interleave_q8kx4_q8k_avx2
    shr     n_blocks, 8
    jz      4f
    test    tokens_left, tokens_left
    jz      4f
1:
    find_tokens X_BYTES
    mov     blocks_left, n_blocks
2:
    .irp    part, 0, 1, 2, 3, 4, 5, 6, 7
    interleave_columns (32 * \part), (128 * \part)
    .endr
    load_tokens X_SUM
    vpunpcklwd ymm4, ymm0, ymm1
    vpunpckhwd ymm6, ymm0, ymm1
    vpunpcklwd ymm5, ymm2, ymm3
    vpunpckhwd ymm7, ymm2, ymm3
    vpunpckhdq ymm1, ymm4, ymm5
    vpunpckldq ymm4, ymm4, ymm5
    vpunpckhdq ymm3, ymm6, ymm7
    vpunpckldq ymm6, ymm6, ymm7
    vmovdqa ymm5, ymm1
    vmovdqa ymm7, ymm3
    store_halves Y_SUM
    vmovd   xmm0, dword ptr [tokens + X_SCALE]
    vmovd   xmm1, dword ptr [tokens + second + X_SCALE]
    vmovd   xmm2, dword ptr [tokens + third + X_SCALE]
    vmovd   xmm3, dword ptr [tokens + fourth + X_SCALE]
    vpand   xmm1, xmm1, xmm13
    vpand   xmm2, xmm2, xmm14
    vpand   xmm3, xmm3, xmm15
    vpunpckldq xmm0, xmm0, xmm1
    vpunpckldq xmm2, xmm2, xmm3
    vpunpcklqdq xmm0, xmm0, xmm2
    vmovdqu [out + Y_SCALE], xmm0
    add     tokens, X_BYTES
    add     out, Y_BYTES
    dec     blocks_left
    jnz     2b
    imul    rax, n_blocks, 3 * X_BYTES
    add     tokens, rax
    sub     tokens_left, 4
    ja      1b
4:
endfunc interleave_q8kx4_q8k_avx2
