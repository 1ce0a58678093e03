// void score_f32_q8_neon_dotprod(struct score_row *s, const struct block_q8 *q, const void *k,
//                                size_t n_q, size_t n, size_t d)
//
// x0 s; x1 q; x2 k; x3 n_q; x4 n; x5 d;
// v0, v1 and v2, v3 32 dimensions of two queries, v4, v5 their scales; v8-v15 keys;
// v16-v19, v20-v23 sums of 16 positions, v24-v27, v28-v31 their scores; v6 MAGIC.
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
//
// Two queries share the keys of 16 positions. If only one query is left, it is computed twice. The
// keys store four dimensions of a position together, as sdot needs them. Sums start at the bits of
// 3 * 2^22, so that a subtraction turns them into floats. For each query, 32 dimensions of 16
// positions take 53 instructions, 44 of them in the vector pipes.
#include "kernels/arm64/asm.h"

#define score x0                // of the first query
#define query x1
#define scales x2
#define n_queries x3
#define n_positions x4
#define n_blocks x5             // of 32 dimensions
#define keys x6
#define query_bytes x7
#define offset x8               // byte offset of the position in scales, scores and keys
#define positions_left x9
#define key x10
#define scale x11
#define first x12
#define second x13
#define blocks_left x14
#define step x15                // bytes from 4 dimensions to the next 4, and from the scales of 32 dimensions
                                // to the next scales
#define other_score x16
#define seed_word w16
#define seeds x17               // 64 bytes: the start values of the sums
#define place x10               // after the keys

#define magic v6

// Multiply four dimensions, from 4 * `column` on in the registers of both queries.
.macro dimensions k0, k1, k2, k3, of_first, of_second, column
    sdot    v16.4s, \k0\().16b, \of_first\().4b[\column]
    sdot    v17.4s, \k1\().16b, \of_first\().4b[\column]
    sdot    v18.4s, \k2\().16b, \of_first\().4b[\column]
    sdot    v19.4s, \k3\().16b, \of_first\().4b[\column]
    sdot    v20.4s, \k0\().16b, \of_second\().4b[\column]
    sdot    v21.4s, \k1\().16b, \of_second\().4b[\column]
    sdot    v22.4s, \k2\().16b, \of_second\().4b[\column]
    sdot    v23.4s, \k3\().16b, \of_second\().4b[\column]
.endm

.macro eight_dimensions of_first, of_second, column
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [key], step
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [key], step
    dimensions v8, v9, v10, v11, \of_first, \of_second, \column
    dimensions v12, v13, v14, v15, \of_first, \of_second, \column + 1
.endm

// Scores of a query += sums times v8-v11, the scales of the keys, times the query's scale.
.macro add_scaled sum0, sum1, sum2, sum3, acc0, acc1, acc2, acc3, own
    fmul    v12.4s, v8.4s, \own\().s[0]
    fmul    v13.4s, v9.4s, \own\().s[0]
    fmul    v14.4s, v10.4s, \own\().s[0]
    fmul    v15.4s, v11.4s, \own\().s[0]
    fsub    \sum0\().4s, \sum0\().4s, magic.4s
    fsub    \sum1\().4s, \sum1\().4s, magic.4s
    fsub    \sum2\().4s, \sum2\().4s, magic.4s
    fsub    \sum3\().4s, \sum3\().4s, magic.4s
    fmla    \acc0\().4s, \sum0\().4s, v12.4s
    fmla    \acc1\().4s, \sum1\().4s, v13.4s
    fmla    \acc2\().4s, \sum2\().4s, v14.4s
    fmla    \acc3\().4s, \sum3\().4s, v15.4s
.endm

func score_f32_q8_neon_dotprod, dotprod
    cbz     n_queries, 5f
    cbz     n_positions, 5f
    save_vectors
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    mov     seeds, sp
    mov_word seed_word, MAGIC
    dup     magic.4s, seed_word
    mov     v7.16b, magic.16b
    st1     {magic.4s, v7.4s}, [seeds], #32
    st1     {magic.4s, v7.4s}, [seeds]
    mov     seeds, sp
    mov     step, #4 * KV_TILE
    lsr     n_blocks, n_blocks, #5
    add     keys, scales, n_blocks, lsl #8
    add     query_bytes, n_blocks, n_blocks, lsl #2
    lsl     query_bytes, query_bytes, #3
1:
    mov     offset, #0
    mov     positions_left, n_positions
    cmp     n_queries, #1
    add     other_score, score, #SCORE_ROW_BYTES
    csel    other_score, other_score, score, hi
2:
    mov     first, query
    add     second, query, query_bytes
    cmp     n_queries, #1
    csel    second, second, query, hi
    add     key, keys, offset
    add     scale, scales, offset
    movi    v24.4s, #0
    movi    v25.4s, #0
    movi    v26.4s, #0
    movi    v27.4s, #0
    movi    v28.4s, #0
    movi    v29.4s, #0
    movi    v30.4s, #0
    movi    v31.4s, #0
    mov     blocks_left, n_blocks
    cbz     n_blocks, 4f
3:
    ld1     {v0.16b, v1.16b}, [first], #32
    ld1     {v2.16b, v3.16b}, [second], #32
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [seeds]
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [seeds]
    eight_dimensions v0, v2, 0
    eight_dimensions v0, v2, 2
    ld1     {v4.2s}, [first], #8
    ld1     {v5.2s}, [second], #8
    eight_dimensions v1, v3, 0
    eight_dimensions v1, v3, 2
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [scale], step
    add_scaled v16, v17, v18, v19, v24, v25, v26, v27, v4
    subs    blocks_left, blocks_left, #1
    add_scaled v20, v21, v22, v23, v28, v29, v30, v31, v5
    b.ne    3b
4:
    add     place, score, offset
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [place]
    add     place, other_score, offset
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [place]
    add     offset, offset, #64
    subs    positions_left, positions_left, #16
    b.ne    2b
    add     score, score, #2 * SCORE_ROW_BYTES
    add     query, query, query_bytes, lsl #1
    subs    n_queries, n_queries, #2
    b.hi    1b
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
    restore_vectors
5:
    ret
endfunc score_f32_q8_neon_dotprod
