// void quantize_q8k_f32_neon(struct block_q8k *y, const float *x, size_t n)
//
// x0 y; x1 x; x2 n, then blocks left; x3 count; x4 x again;
// v0-v7, v16-v23 64 elements, v24 max, v25 inverse, v26 127, v27 2^-100, v28-v31 sums.
// Clobbers x0-x4, x9, v0-v7, v16-v31.
//
// Works like quantize_q8_f32, in two passes over a block, which stays in L1. The first pass
// finds the maximum. Sums of 16 come from pairwise additions of the bytes, until a lane has a whole
// sum. A block of 256 takes 64 each of magnitudes, maxima, products and conversions, 48 narrowings
// and 36 others: 1015 cycles in the model of Cortex-A53, 382 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define out x0
#define vector x1
#define left x2
#define count x3
#define again x4
#define max s24
#define inverse s25
#define limit s26
#define smallest s27
#define word w9

// v28, v29 = maxima of v28, v29 and 16 magnitudes
.macro magnitudes a, b, c, d
    fabs    \a\().4s, \a\().4s
    fabs    \b\().4s, \b\().4s
    fabs    \c\().4s, \c\().4s
    fabs    \d\().4s, \d\().4s
    fmax    \a\().4s, \a\().4s, \b\().4s
    fmax    \c\().4s, \c\().4s, \d\().4s
    fmax    v28.4s, v28.4s, \a\().4s
    fmax    v29.4s, v29.4s, \c\().4s
.endm

// a = the 16 floats in a to d, multiplied by the inverse and rounded to int8
.macro sixteen a, b, c, d
    fmul    \a\().4s, \a\().4s, v25.4s
    fmul    \b\().4s, \b\().4s, v25.4s
    fmul    \c\().4s, \c\().4s, v25.4s
    fmul    \d\().4s, \d\().4s, v25.4s
    fcvtns  \a\().4s, \a\().4s
    fcvtns  \b\().4s, \b\().4s
    fcvtns  \c\().4s, \c\().4s
    fcvtns  \d\().4s, \d\().4s
    uzp1    \a\().8h, \a\().8h, \b\().8h
    uzp1    \c\().8h, \c\().8h, \d\().8h
    uzp1    \a\().16b, \a\().16b, \c\().16b
.endm

// Convert 64 elements; the sum of each 16 is in two lanes of `sums`
.macro sixty_four sums
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [again], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [again], #64
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [again], #64
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [again], #64
    sixteen v0, v1, v2, v3
    sixteen v4, v5, v6, v7
    sixteen v16, v17, v18, v19
    sixteen v20, v21, v22, v23
    mov     v1.16b, v4.16b
    mov     v2.16b, v16.16b
    mov     v3.16b, v20.16b
    saddlp  v4.8h, v0.16b
    saddlp  v5.8h, v1.16b
    saddlp  v6.8h, v2.16b
    saddlp  v7.8h, v3.16b
    addp    v4.8h, v4.8h, v5.8h
    addp    v6.8h, v6.8h, v7.8h
    st1     {v0.16b, v1.16b, v2.16b, v3.16b}, [out], #64
    addp    \sums\().8h, v4.8h, v6.8h
.endm

func quantize_q8k_f32_neon
    lsr     left, left, #8
    cbz     left, 3f
    mov_word word, F32_127
    fmov    limit, word
    mov_word word, F32_2M100
    fmov    smallest, word
1:
    mov     again, vector
    mov     count, #8
    movi    v28.4s, #0
    movi    v29.4s, #0
2:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [vector], #64
    subs    count, count, #1
    magnitudes v0, v1, v2, v3
    magnitudes v4, v5, v6, v7
    b.ne    2b
    fmax    v28.4s, v28.4s, v29.4s
    fmaxv   max, v28.4s
    fcmge   s18, max, smallest           // all bits 1 if the block is not zero
    fdiv    inverse, limit, max
    and     v24.8b, v24.8b, v18.8b
    and     v25.8b, v25.8b, v18.8b
    fdiv    max, max, limit         // clears the other lanes, for reserved[]
    dup     v25.4s, v25.s[0]
    sixty_four v28
    sixty_four v29
    sixty_four v30
    sixty_four v31
    addp    v28.8h, v28.8h, v29.8h
    addp    v29.8h, v30.8h, v31.8h
    subs    left, left, #1
    st1     {v28.8h, v29.8h}, [out], #32
    st1     {v24.4s}, [out], #16
    b.ne    1b
3:
    ret
endfunc quantize_q8k_f32_neon
