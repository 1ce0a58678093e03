// void score_f32_q8_avx2(struct score_row *s, const struct block_q8 *q, const void *k, size_t n_q,
//                        size_t n, size_t d)
//
// Registers: score_q8.h.
// ymm0-ymm3 sums of a block, ymm4-ymm7 scores, ymm8 and ymm9 keys, ymm10 scratch;
// 256 bytes of stack: a block of four queries as 16-bit words.
// Clobbers rax, rcx, rdi, rsi, r8-r11, ymm0-ymm10.
//
// Takes 4 queries (3, 2, 1 at the end) by 8 positions. A chunk of keys is 8 positions by
// 4 dimensions. The chunk's even and odd bytes become words. vpmaddwd multiplies them by the
// words of a query, which are in all lanes. Each position thus has its own sum, which need not
// be folded and cannot saturate. A chunk takes 24 operations, and 4 more for the keys: 8.1 cycles
// for 128 products. The next tile is prefetched meanwhile, as in score_f32_f16_avx2.S.
#include "kernels/x86_64/attention/score_q8.h"

// Widen the bytes of ymm `from` to words: even bytes to ymm `even`, odd bytes in place.
.macro part_bytes from, even
    vpsllw  ymm\even, ymm\from, 8
    vpsraw  ymm\from, ymm\from, 8
    vpsraw  ymm\even, ymm\even, 8
.endm

.macro begin_block a
    at_row  <vmovdqu ymm9,>, \a, block
    part_bytes 9, 8
    vmovdqu [rsp + 64 * \a], ymm8
    vmovdqu [rsp + 64 * \a + 32], ymm9
    vpxor   xmm\a, xmm\a, xmm\a
.endm

.macro multiply_chunk a, c
    vpbroadcastd ymm10, dword ptr [rsp + 64 * \a + 4 * \c]
    vpmaddwd ymm10, ymm10, ymm8
    vpaddd  ymm\a, ymm\a, ymm10
    vpbroadcastd ymm10, dword ptr [rsp + 64 * \a + 4 * \c + 32]
    vpmaddwd ymm10, ymm10, ymm9
    vpaddd  ymm\a, ymm\a, ymm10
.endm

.macro end_block a, score
    at_row  <vbroadcastss ymm10, dword ptr>, \a, block, Q8_SCALE
    vmulps  ymm10, ymm10, ymm8
    vcvtdq2ps ymm\a, ymm\a
    vfmadd231ps ymm\score, ymm\a, ymm10
.endm

.macro zero_score score
    vxorps  xmm\score, xmm\score, xmm\score
.endm

.macro store_score a, score
    vmovups [scores + position + SCORE_ROW_BYTES * \a], ymm\score
.endm

// Compute the scores of the next n_q queries at all positions.
.macro score_queries n_q
    xor     position_32, position_32
    lea     blocks_end, [queries + stride]
.Lpositions\@:
    lea     scale, [scales + position]
    lea     key, [scale + scale_bytes]
    mov     block, queries
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    zero_score %(4 + \a)
    .endif
    .endr
    cmp     block, blocks_end
    je      .Lstore\@
.Lblock\@:
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    begin_block \a
    .endif
    .endr
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    prefetcht1 [key + tile_bytes + CHUNK_BYTES * \c]
    vmovdqu ymm9, [key + CHUNK_BYTES * \c]
    part_bytes 9, 8
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    multiply_chunk \a, \c
    .endif
    .endr
    .endr
    vmovups ymm8, [scale]
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    end_block \a, %(4 + \a)
    .endif
    .endr
    add     scale, 4 * KV_TILE
    add     key, 8 * CHUNK_BYTES
    add     block, Q8_BYTES
    cmp     block, blocks_end
    jne     .Lblock\@
.Lstore\@:
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    store_score \a, %(4 + \a)
    .endif
    .endr
    add     position, 32
    cmp     position, n_bytes
    jb      .Lpositions\@
    add     scores, \n_q * SCORE_ROW_BYTES
    next_rows queries, \n_q
.endm

func score_f32_q8_avx2
    push_saved rbx, rbp, r12, r13, r14
    take_stack 256
    prepare_score_q8
    shl     n_bytes, 2
    jz      9f
    for_queries n_queries, 4, score_queries
9:
    give_stack 256
    pop_saved r14, r13, r12, rbp, rbx
endfunc score_f32_q8_avx2
