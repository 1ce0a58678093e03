// void accumulate_f32_q8_q8_neon_dotprod(float *o, const struct score_row *s, const struct block_q8 *w,
//                   const void *v, size_t n_q, size_t d)
//
// Registers: accumulate_int_neon.h.
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
#include "kernels/arm64/attention_int_neon_dotprod.h"
#include "kernels/arm64/accumulate_int_neon.h"

func accumulate_f32_q8_q8_neon_dotprod, dotprod
    accumulate_int 8, 4
endfunc accumulate_f32_q8_q8_neon_dotprod
