// void interleave_q8kx4_q8k_avx2(struct block_q8kx4 *y, const struct block_q8k *x, size_t n_tokens,
//                                size_t cols)
//
// Registers and loops: interleave_avx2.h.
// Columns take eight transpositions of words, sums take one transposition of halves.
#include "kernels/x86_64/matrix/interleave_avx2.h"

.macro interleave_q8k
    .irp    part, 0, 1, 2, 3, 4, 5, 6, 7
    interleave_columns (32 * \part), (128 * \part)
    .endr
    load_tokens Q8K_SUM
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
    store_halves Q8KX4_SUM
    interleave_words vmovd, dword, Q8K_SCALE
    vpunpcklqdq xmm0, xmm0, xmm2
    vmovdqu [out + Q8KX4_SCALE], xmm0
.endm

interleave interleave_q8kx4_q8k_avx2, interleave_q8k, 8, Q8K_BYTES, Q8KX4_BYTES
