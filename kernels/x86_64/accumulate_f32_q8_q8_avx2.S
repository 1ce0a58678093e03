// void accumulate_f32_q8_q8_avx2(float *o, const struct score_row *s, const struct block_q8 *w,
//                                const void *v, size_t n_q, size_t d)
//
// Registers: accumulate_int.h.
// Clobbers rax, rdx, rsi, rdi, r8-r11, ymm0-ymm15.
#include "kernels/x86_64/accumulate_int.h"

.macro accumulate_queries n_q
    accumulate_queries_of 8, \n_q
.endm

func accumulate_f32_q8_q8_avx2
    broadcast_word 15, 0x00010001
    accumulate_int 8, accumulate_queries
endfunc accumulate_f32_q8_q8_avx2
