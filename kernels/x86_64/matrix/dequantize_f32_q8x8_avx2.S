// void dequantize_f32_q8x8_avx2(float *y, const void *w, size_t row, size_t cols)
//
// rdi y; rsi w; rdx row; rcx cols, then blocks left;
// r8 quants of the row, rax scratch;
// ymm0 and ymm1 quants, ymm2 scratch, ymm3 scale.
// Clobbers rax, rcx, rdx, rdi, rsi, r8, ymm0-ymm3.
//
// A row's 32 quants are in 8 words, 32 bytes apart. A block takes 9 cycles if it is in a cache. In
// a model it comes from memory, which takes longer, because a token reads only one row of the
// embedding.
#include "kernels/x86_64/matrix/dequantize_avx2.h"

#define out rdi
#define weights rsi
#define number rdx
#define blocks_left rcx
#define quants r8
#define scale ymm3

func dequantize_f32_q8x8_avx2
    find_row weights, number, blocks_left, Q8X8_BYTES
    test    blocks_left, blocks_left
    jz      2f
    lea     quants, [weights + QUANTS + 4*number]
    lea     weights, [weights + 2*number]
1:
    broadcast_half 3, weights
    gather_row 0, quants
    gather_row 1, quants + 128
    put_sixteen out, 0, 0, 2, scale
    put_sixteen out, 64, 1, 2, scale
    add     weights, Q8X8_BYTES
    add     quants, Q8X8_BYTES
    add     out, 128
    dec     blocks_left
    jnz     1b
2:
endfunc dequantize_f32_q8x8_avx2
