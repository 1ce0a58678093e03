// void score_f32_q8_avx512_vnni(struct score_row *s, const struct block_q8 *q, const void *k,
//                               size_t n_q, size_t n, size_t d)
//
// Registers: score_q8.h.
// zmm0-zmm7 sums of a block, zmm8-zmm15 scores, zmm16 and zmm17 keys, zmm18 top bits of bytes,
// zmm19 scratch, zmm20 and zmm21 scales.
// Clobbers rax, rcx, rdi, rsi, r8-r11, zmm0-zmm21.
//
// Takes 4 queries (3, 2, 1 at the end) by 32 positions. A lane is a position. Flipping the top
// bit of a key makes it unsigned. vpdpbusd then multiplies 4 dimensions of a position by those
// of a query. A sum starts at -128 times the sum of the query's block. Results beyond n are not
// stored. 8 vpdpbusd take 10 cycles. The next tile is prefetched meanwhile, as in
// score_f32_f16_avx2.S.
#include "kernels/x86_64/attention/score_q8.h"

#define top_bits zmm18

.macro begin_block a, low, high
    at_row  <vpbroadcastd zmm19, dword ptr>, \a, block, Q8_SUM
    vpxord  zmm\low, zmm\low, zmm\low
    vpslld  zmm19, zmm19, 7
    vpsubd  zmm\low, zmm\low, zmm19
    vmovdqa64 zmm\high, zmm\low
.endm

.macro multiply_chunk a, c, low, high
    at_row  <vpdpbusd zmm\low, zmm16, dword ptr>, \a, block, (4 * \c), <{1to16}>
    at_row  <vpdpbusd zmm\high, zmm17, dword ptr>, \a, block, (4 * \c), <{1to16}>
.endm

.macro add_vector a, sum, score, scales
    at_row  <vmulps zmm19, zmm\scales, dword ptr>, \a, block, Q8_SCALE, <{1to16}>
    vcvtdq2ps zmm\sum, zmm\sum
    vfmadd231ps zmm\score, zmm\sum, zmm19
.endm

.macro end_block a, low, high
    add_vector \a, \low, %(8 + \low), 20
    add_vector \a, \high, %(8 + \high), 21
.endm

.macro zero_pair a, low, high
    vpxord  zmm\low, zmm\low, zmm\low
    vpxord  zmm\high, zmm\high, zmm\high
.endm

.macro store_low a, low, high
    vmovups [scores + position + SCORE_ROW_BYTES * \a], zmm\low
.endm

.macro store_high a, low, high
    vmovups [scores + position + SCORE_ROW_BYTES * \a + 64], zmm\high
.endm

// Compute the scores of the next n_q queries at all positions.
.macro score_queries n_q
    xor     position_32, position_32
    lea     blocks_end, [queries + stride]
.Lpositions\@:
    lea     scale, [scales + position]
    lea     key, [scale + scale_bytes]
    mov     block, queries
    for_pairs \n_q, 8, zero_pair
    cmp     block, blocks_end
    je      .Lstore\@
.Lblock\@:
    for_pairs \n_q, 0, begin_block
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    prefetcht1 [key + tile_bytes + CHUNK_BYTES * \c]
    prefetcht1 [key + tile_bytes + CHUNK_BYTES * \c + 64]
    vpxord  zmm16, top_bits, [key + CHUNK_BYTES * \c]
    vpxord  zmm17, top_bits, [key + CHUNK_BYTES * \c + 64]
    for_pairs \n_q, 0, multiply_chunk, \c
    .endr
    vmovups zmm20, [scale]
    vmovups zmm21, [scale + 64]
    for_pairs \n_q, 0, end_block
    add     scale, 4 * KV_TILE
    add     key, 8 * CHUNK_BYTES
    add     block, Q8_BYTES
    cmp     block, blocks_end
    jne     .Lblock\@
.Lstore\@:
    for_pairs \n_q, 8, store_low
    lea     key, [position + 64]
    cmp     key, n_bytes
    jae     .Lstored\@
    for_pairs \n_q, 8, store_high
.Lstored\@:
    add     position, 128
    cmp     position, n_bytes
    jb      .Lpositions\@
    add     scores, \n_q * SCORE_ROW_BYTES
    next_rows queries, \n_q
.endm

func score_f32_q8_avx512_vnni
    push_saved rbx, rbp, r12, r13, r14
    prepare_score_q8
    mov     eax, 0x80808080
    vpbroadcastd top_bits, eax
    shl     n_bytes, 2
    jz      9f
    for_queries n_queries, 4, score_queries
9:
    pop_saved r14, r13, r12, rbp, rbx
endfunc score_f32_q8_avx512_vnni
