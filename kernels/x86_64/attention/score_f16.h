// Registers that the scores of fp16 keys share.
//
// rdi s; rsi q; rdx k; rcx n_q; r8 n, then bytes of fp16; r9 d, then bytes of a query;
// rax offset into a row of k, in bytes; r10 k; r11 q; rbx end of the first query; rbp bytes of the
// tile; r12-r14 multiples of r9.
#ifndef INGOT_KERNELS_X86_64_SCORE_F16_H
#define INGOT_KERNELS_X86_64_SCORE_F16_H

#include "kernels/x86_64/attention/attention.h"

#define scores rdi
#define queries rsi
#define keys rdx
#define n_queries rcx
#define n_bytes r8
#define position rax
#define position_32 eax
#define key r10
#define query r11
#define query_end rbx
#define tile_bytes rbp

#endif
