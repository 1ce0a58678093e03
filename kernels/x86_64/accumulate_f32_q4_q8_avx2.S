// void accumulate_f32_q4_q8_avx2(float *o, const struct score_row *s, const struct block_q8 *w,
//                                const void *v, size_t n_q, size_t d)
//
// Registers: accumulate_int.h; ymm11 lower halves of bytes.
// Clobbers rax, rdx, rsi, rdi, r8-r11, ymm0-ymm3, ymm8, ymm9, ymm11-ymm15.
#define low_halves ymm11
#include "kernels/x86_64/accumulate_int.h"

.macro accumulate_queries n_q
    accumulate_queries_of 4, \n_q
.endm

func accumulate_f32_q4_q8_avx2
    broadcast_word 15, 0x88888888
    broadcast_word 11, 0x0f0f0f0f
    accumulate_int 4, accumulate_queries
endfunc accumulate_f32_q4_q8_avx2
