// void dequantize_f32_q4x8_avx2(float *y, const void *w, size_t row, size_t cols)
//
// rdi y; rsi w; rdx row; rcx cols, then blocks left;
// r8 quants of the row, rax scratch;
// ymm0 and ymm1 low and high nibbles, ymm2 scratch, ymm3 scale, xmm4 eights, xmm5 mask of low
// nibbles.
// Clobbers rax, rcx, rdx, rdi, rsi, r8, ymm0-ymm5.
//
// A row's 32 nibbles are in 4 words, 32 bytes apart: low nibbles
// are columns 0-15, high nibbles 16-31. 9 cycles per block.
#include "kernels/x86_64/matrix/dequantize_avx2.h"

#define out rdi
#define weights rsi
#define number rdx
#define blocks_left rcx
#define quants r8
#define scale ymm3
#define eights xmm4
#define nibble xmm5

func dequantize_f32_q4x8_avx2
    find_row weights, number, blocks_left, Q4X8_BYTES
    test    blocks_left, blocks_left
    jz      2f
    lea     quants, [weights + QUANTS + 4*number]
    lea     weights, [weights + 2*number]
    broadcast_word 4, 0x08080808
    broadcast_word 5, 0x0f0f0f0f
1:
    broadcast_half 3, weights
    gather_row 0, quants
    vpsrlw  xmm1, xmm0, 4
    vpand   xmm0, xmm0, nibble
    vpand   xmm1, xmm1, nibble
    vpsubb  xmm0, xmm0, eights
    vpsubb  xmm1, xmm1, eights
    put_sixteen out, 0, 0, 2, scale
    put_sixteen out, 64, 1, 2, scale
    add     weights, Q4X8_BYTES
    add     quants, Q4X8_BYTES
    add     out, 128
    dec     blocks_left
    jnz     1b
2:
endfunc dequantize_f32_q4x8_avx2
