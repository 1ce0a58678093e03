// void score_f32_q4_avx2(struct score_row *s, const struct block_q8 *q, const void *k, size_t n_q,
//                        size_t n, size_t d)
//
// rdi s; rsi q; rdx scales; rcx n_q; r8 n, then bytes of n keys in a group; r9 d, then bytes of a
// query; rax, r10, r11 as in attention_int.h; rbx scales of the block; rbp bytes of the positions
// done; r12 three times r9; r13 bytes of scales in a tile; r14 end of the blocks;
// [rsp] mask of low nibbles, [rsp + 32] signs;
// ymm0-ymm3 sums, ymm4-ymm11 scores, ymm12-ymm14 a group, then scales and a sum, ymm15 signs, then q.d.
// Clobbers rax, rcx, rdi, rsi, r8-r11, ymm0-ymm15.
//
// Takes 4 queries (3, 2, 1 at the end) by 16 positions.
#define low_halves [rsp]
#include "kernels/x86_64/attention/attention_int.h"

#define scores rdi
#define queries rsi
#define scales rdx
#define n_queries rcx
#define n_bytes r8
#define scale rbx
#define position rbp
#define position_32 ebp
#define scale_bytes r13
#define blocks_end r14

#define FRAME 64
#define GROUP_BYTES (2 * KV_TILE)   /* bytes of 4 dimensions; also bytes of scales of 32 dimensions */

.macro zero_pair a, low, high
    vxorps  xmm\low, xmm\low, xmm\low
    vxorps  xmm\high, xmm\high, xmm\high
.endm

.macro end_block a, low, high
    float_sums_q4 \a, 14, \a
    vmulps  ymm14, ymm14, ymm12
    vmulps  ymm\a, ymm\a, ymm13
    at_row  <vbroadcastss ymm15, dword ptr>, \a, block, Q8_SCALE
    vfmadd231ps ymm\low, ymm14, ymm15
    vfmadd231ps ymm\high, ymm\a, ymm15
.endm

.macro store_pair a, low, high
    vmovups [scores + 2*position + SCORE_ROW_BYTES * \a], ymm\low
    vmovups [scores + 2*position + SCORE_ROW_BYTES * \a + 32], ymm\high
.endm

// Compute the scores of the next n_q queries at all positions.
.macro score_queries n_q
    xor     position_32, position_32
    lea     blocks_end, [queries + stride]
.Lpositions\@:
    lea     scale, [scales + position]
    lea     group, [scale + scale_bytes]
    mov     block, queries
    for_pairs \n_q, 4, zero_pair
    cmp     block, blocks_end
    je      .Lstore\@
.Lblock\@:
    sum_groups_q4 \n_q
    vpmovzxwd ymm12, [scale]
    vpmovzxwd ymm13, [scale + 16]
    vpslld  ymm12, ymm12, 16
    vpslld  ymm13, ymm13, 16
    for_pairs \n_q, 4, end_block
    vmovdqu signs, [rsp + 32]
    add     scale, GROUP_BYTES
    add     block, Q8_BYTES
    cmp     block, blocks_end
    jne     .Lblock\@
.Lstore\@:
    for_pairs \n_q, 4, store_pair
    add     position, 32
    cmp     position, n_bytes
    jb      .Lpositions\@
    add     scores, \n_q * SCORE_ROW_BYTES
    next_rows queries, \n_q
.endm

func score_f32_q4_avx2
    push_saved rbx, rbp, r12, r13, r14
    take_stack FRAME
    broadcast_word 15, 0x0f0f0f0f
    vmovdqu [rsp], ymm15
    broadcast_word 15, 0x88888888
    vmovdqu [rsp + 32], ymm15
    mov     group_stride, GROUP_BYTES
    lea     scale_bytes, [4*stride] // GROUP_BYTES for 32 dimensions
    shr     stride, 5
    imul    stride, stride, Q8_BYTES
    lea     stride3, [stride + 2*stride]
    shl     n_bytes, 1
    jz      .Lempty
    for_queries n_queries, 4, score_queries
.Lempty:
    give_stack FRAME
    pop_saved r14, r13, r12, rbp, rbx
endfunc score_f32_q4_avx2
