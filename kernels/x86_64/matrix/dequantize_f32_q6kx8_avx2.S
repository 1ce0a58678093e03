// void dequantize_f32_q6kx8_avx2(float *y, const void *w, size_t row, size_t cols)
//
// rdi y; rsi w, at the row's bytes; rdx row; rcx cols, then blocks left;
// r8 quants of the row, r9 scale d of the row, rax scratch;
// xmm0, xmm1 low nibbles of 32 columns, xmm2, xmm3 high bits of 128, ymm4 d, xmm5 scratch, ymm6
// scale of a sub-block, ymm7 scratch, xmm8 and xmm9 masks of low nibbles and of bits 4 and 5, xmm10
// 32 in every byte.
// Clobbers rax, rcx, rdx, rdi, rsi, r8, r9, ymm0-ymm10.
//
// Takes 32 columns, two sub-blocks, at a time; the high bits of four
// such pairs share bytes. The product of a scale and a value is computed
// in integers, so a zero has no sign. A block of 256 takes 100 cycles.
#include "kernels/x86_64/matrix/dequantize_avx2.h"

#define out rdi
#define weights rsi
#define number rdx
#define blocks_left rcx
#define quants r8
#define halves r9

.macro put_eight at
    vpmovsxbd ymm7, xmm5
    vpmulld ymm7, ymm7, ymm6
    vcvtdq2ps ymm7, ymm7
    vmulps  ymm7, ymm7, ymm4
    vmovups [out + \at], ymm7
.endm

// Store 16 columns of sub-block j, from the bytes of low nibbles and of high bits.
// s (0 to 3) is the number of the group of 32 columns whose bits are taken.
.macro put_sub_block j, s, low, high
    .if (\s) % 2
    vpsrlw  xmm5, xmm\low, 4
    vpand   xmm5, xmm5, xmm8
    .else
    vpand   xmm5, xmm\low, xmm8
    .endif
    .if (\s) < 2
    vpsllw  xmm7, xmm\high, 4-2*(\s)
    .else
    vpsrlw  xmm7, xmm\high, 2*(\s)-4
    .endif
    vpand   xmm7, xmm7, xmm9
    vpor    xmm5, xmm5, xmm7
    vpsubb  xmm5, xmm5, xmm10
    movsx   eax, byte ptr [weights + K36_SCALES + 8 * (\j)]
    vmovd   xmm6, eax
    vpbroadcastd ymm6, xmm6
    put_eight 64*(\j)
    vpsrldq xmm5, xmm5, 8
    put_eight 64*(\j)+32
.endm

func dequantize_f32_q6kx8_avx2
    find_row weights, number, blocks_left, Q6K_BYTES, 8
    test    blocks_left, blocks_left
    jz      2f
    lea     quants, [weights + 4*number]
    lea     halves, [weights + 2*number]
    add     weights, number
    broadcast_word 8, 0x0f0f0f0f
    broadcast_word 9, 0x30303030
    broadcast_word 10, 0x20202020
1:
    broadcast_half 4, halves
    .irp    half, 0, 1
    gather_row 2, quants + Q6K_HIGH + 256 * \half
    gather_row 3, quants + Q6K_HIGH + 256 * \half + 128
    .irp    pair, 0, 1
    gather_row 0, quants + Q6K_LOW + 512 * \half + 256 * \pair
    gather_row 1, quants + Q6K_LOW + 512 * \half + 256 * \pair + 128
    .irp    odd, 0, 1
    put_sub_block 8*\half+4*\pair+2*\odd, 2*\pair+\odd, 0, 2
    put_sub_block 8*\half+4*\pair+2*\odd+1, 2*\pair+\odd, 1, 3
    .endr
    .endr
    .endr
    add     weights, Q6K_BYTES
    add     halves, Q6K_BYTES
    add     quants, Q6K_BYTES
    add     out, 1024
    dec     blocks_left
    jnz     1b
2:
endfunc dequantize_f32_q6kx8_avx2
