// Shared by the scores of int8 keys: registers and the sizes of a tile.
//
// rdi s; rsi q; rdx k; rcx n_q; r8 n, then bytes of n floats; r9 d, then bytes of a query;
// rax bytes of the positions done, in s and in a chunk of k; r10 scales; r11 k; rbx block of q; rbp
// bytes of the tile; r12 three times r9; r13 bytes of scales in a tile; r14 end of the blocks.
#ifndef INGOT_KERNELS_X86_64_SCORE_Q8_H
#define INGOT_KERNELS_X86_64_SCORE_Q8_H

#include "kernels/x86_64/attention/attention.h"

#define scores rdi
#define queries rsi
#define scales rdx
#define n_queries rcx
#define n_bytes r8
#define position rax
#define position_32 eax
#define scale r10
#define key r11
#define block rbx
#define tile_bytes rbp
#define scale_bytes r13
#define blocks_end r14

#define CHUNK_BYTES (4 * KV_TILE)   /* bytes of 4 dimensions of all positions */

.macro prepare_score_q8
    lea     scale_bytes, [8*stride] // KV_TILE floats of scales for 32 dimensions
    imul    tile_bytes, stride, KV_TILE + KV_TILE / 8
    shr     stride, 5
    imul    stride, stride, Q8_BYTES
    lea     stride3, [stride + 2*stride]
.endm

#endif
