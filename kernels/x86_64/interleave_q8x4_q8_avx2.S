// void interleave_q8x4_q8_avx2(struct block_q8x4 *y, const struct block_q8 *x, size_t n_tokens,
//                              size_t cols)
//
// Registers as interleave.h says; rax scratch, ymm0-ymm7 columns, scales and sums.
// Clobbers rax, rcx, rdx, rdi, rsi, r8-r11, ymm0-ymm7, ymm13-ymm15.
//
// A block of four tokens a step, an 8 by 4 transposition of words: aims at 12 cycles.
#include "kernels/x86_64/interleave.h"

#define X_BYTES 40
#define X_SCALE 32
#define Y_BYTES 160
#define Y_SCALE 128

func interleave_q8x4_q8_avx2
    shr     n_blocks, 5
    jz      4f
    test    tokens_left, tokens_left
    jz      4f
1:
    find_tokens X_BYTES
    mov     blocks_left, n_blocks
2:
    interleave_columns 0, 0
    vmovq   xmm0, qword ptr [tokens + X_SCALE]  // scale and sum
    vmovq   xmm1, qword ptr [tokens + second + X_SCALE]
    vmovq   xmm2, qword ptr [tokens + third + X_SCALE]
    vmovq   xmm3, qword ptr [tokens + fourth + X_SCALE]
    vpand   xmm1, xmm1, xmm13
    vpand   xmm2, xmm2, xmm14
    vpand   xmm3, xmm3, xmm15
    vpunpckldq xmm0, xmm0, xmm1
    vpunpckldq xmm2, xmm2, xmm3
    vpunpckhqdq xmm1, xmm0, xmm2
    vpunpcklqdq xmm0, xmm0, xmm2
    vmovdqu [out + Y_SCALE], xmm0
    vmovdqu [out + Y_SCALE + 16], xmm1
    add     tokens, X_BYTES
    add     out, Y_BYTES
    dec     blocks_left
    jnz     2b
    imul    rax, n_blocks, 3 * X_BYTES
    add     tokens, rax
    sub     tokens_left, 4
    ja      1b
4:
endfunc interleave_q8x4_q8_avx2
