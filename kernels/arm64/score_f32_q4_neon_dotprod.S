// void score_f32_q4_neon_dotprod(struct score_row *s, const struct block_q8 *q, const void *k,
//                   size_t n_q, size_t n, size_t d)
//
// Registers: score_int_neon.h.
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
//
// 32 dimensions of 16 positions and four queries: 293 instructions for 128 sdot.
#include "kernels/arm64/attention_int_neon_dotprod.h"
#include "kernels/arm64/score_int_neon.h"

func score_f32_q4_neon_dotprod, dotprod
    score_int
endfunc score_f32_q4_neon_dotprod
