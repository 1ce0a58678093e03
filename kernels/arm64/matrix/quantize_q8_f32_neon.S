// void quantize_q8_f32_neon(struct block_q8 *y, const float *x, size_t n)
//
// x0 y; x1 x; x2 n, then blocks left;
// v0-v7 a block, v16-v23 its magnitudes, v24 max, v25 inverse, v26 127, v27 2^-100.
// Clobbers x0-x2, x9, v0-v7, v16-v27.
//
// fcvtns rounds to the nearest integer, and ties to even, as do the two additions of the reference.
// A block takes 8 operations each for magnitudes, maxima, products and conversions, 2 scalar
// divisions, and 6 to narrow: 138 cycles for 32 elements in the model of Cortex-A53, 72 in that of
// Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define out x0
#define vector x1
#define left x2
#define max s24
#define inverse s25
#define limit s26
#define smallest s27
#define word w9

func quantize_q8_f32_neon
    lsr     left, left, #5
    cbz     left, 2f
    mov_word word, F32_127
    fmov    limit, word
    mov_word word, F32_2M100
    fmov    smallest, word
1:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [vector], #64
    subs    left, left, #1
    fabs    v16.4s, v0.4s
    fabs    v17.4s, v1.4s
    fabs    v18.4s, v2.4s
    fabs    v19.4s, v3.4s
    fabs    v20.4s, v4.4s
    fabs    v21.4s, v5.4s
    fabs    v22.4s, v6.4s
    fabs    v23.4s, v7.4s
    fmax    v16.4s, v16.4s, v17.4s
    fmax    v18.4s, v18.4s, v19.4s
    fmax    v20.4s, v20.4s, v21.4s
    fmax    v22.4s, v22.4s, v23.4s
    fmax    v16.4s, v16.4s, v18.4s
    fmax    v20.4s, v20.4s, v22.4s
    fmax    v16.4s, v16.4s, v20.4s
    fmaxv   max, v16.4s
    fcmge   s18, max, smallest           // all bits 1 if the block is not zero
    fdiv    inverse, limit, max
    and     v24.8b, v24.8b, v18.8b
    and     v25.8b, v25.8b, v18.8b
    fdiv    max, max, limit
    fmul    v0.4s, v0.4s, v25.s[0]
    fmul    v1.4s, v1.4s, v25.s[0]
    fmul    v2.4s, v2.4s, v25.s[0]
    fmul    v3.4s, v3.4s, v25.s[0]
    fmul    v4.4s, v4.4s, v25.s[0]
    fmul    v5.4s, v5.4s, v25.s[0]
    fmul    v6.4s, v6.4s, v25.s[0]
    fmul    v7.4s, v7.4s, v25.s[0]
    fcvtns  v0.4s, v0.4s
    fcvtns  v1.4s, v1.4s
    fcvtns  v2.4s, v2.4s
    fcvtns  v3.4s, v3.4s
    fcvtns  v4.4s, v4.4s
    fcvtns  v5.4s, v5.4s
    fcvtns  v6.4s, v6.4s
    fcvtns  v7.4s, v7.4s
    uzp1    v0.8h, v0.8h, v1.8h     // the low halves of both registers
    uzp1    v2.8h, v2.8h, v3.8h
    uzp1    v4.8h, v4.8h, v5.8h
    uzp1    v6.8h, v6.8h, v7.8h
    uzp1    v16.16b, v0.16b, v2.16b
    uzp1    v17.16b, v4.16b, v6.16b
    saddlp  v0.8h, v16.16b
    sadalp  v0.8h, v17.16b          // at most 4 * 127 each
    saddlv  s0, v0.8h
    st1     {v16.16b, v17.16b}, [out], #32
    st1     {v24.s}[0], [out], #4
    st1     {v0.s}[0], [out], #4
    b.ne    1b
2:
    ret
endfunc quantize_q8_f32_neon
