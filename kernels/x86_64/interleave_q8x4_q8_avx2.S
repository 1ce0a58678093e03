// void interleave_q8x4_q8_avx2(struct block_q8x4 *y, const struct block_q8 *x, size_t n_tokens,
//                              size_t cols)
//
// Registers and loops: interleave_avx2.h.
// An 8 by 4 transposition of words.
#include "kernels/x86_64/interleave_avx2.h"

.macro interleave_q8
    interleave_columns 0, 0
    interleave_words vmovq, qword, Q8_SCALE // and the sum after it
    vpunpckhqdq xmm1, xmm0, xmm2
    vpunpcklqdq xmm0, xmm0, xmm2
    vmovdqu [out + Q8X4_SCALE], xmm0
    vmovdqu [out + Q8X4_SUM], xmm1
.endm

interleave interleave_q8x4_q8_avx2, interleave_q8, 5, Q8_BYTES, Q8X4_BYTES
