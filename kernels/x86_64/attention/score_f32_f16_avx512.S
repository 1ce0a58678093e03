// void score_f32_f16_avx512(struct score_row *s, const float *q, const uint16_t *k, size_t n_q,
//                           size_t n, size_t d)
//
// Registers: score_f16.h.
// zmm0-zmm15 scores, zmm16-zmm19 keys.
// Clobbers rax, rcx, rdi, rsi, r8-r11, zmm0-zmm19.
//
// Takes 8 queries by 32 positions, or 4 or fewer by 64 (the whole tile): 16 chains of fma, for
// both a prompt and a single token. Results beyond n are not stored. The kernel reaches one fma per
// cycle, the limit of Zen 4. The next tile is prefetched meanwhile, as in score_f32_f16_avx2.S.
#include "kernels/x86_64/attention/score_f16.h"

.macro zero acc
    vpxord  zmm\acc, zmm\acc, zmm\acc
.endm

.macro load_keys v, reg
    vcvtph2ps zmm\reg, [key + 32 * \v]
.endm

.macro multiply_query a, acc, keys
    at_row  <vfmadd231ps zmm\acc, zmm\keys, dword ptr>, \a, query, 0, <{1to16}>
.endm

// Multiply vector v of n_v, for each of n_q queries.
.macro multiply_vector n_q, n_v, v
    .irp    a, 0, 1, 2, 3, 4, 5, 6, 7
    .if \a < \n_q
    multiply_query \a, %(\n_v * \a + \v), %(16 + \v)
    .endif
    .endr
.endm

.macro store_score a, v, acc
    vmovups [scores + 2*position + SCORE_ROW_BYTES * \a + 64 * \v], zmm\acc
.endm

// Store vector v of n_v, for each of n_q queries; jumps to `last` if the next vector is beyond n.
.macro store_vector n_q, n_v, v, last
    .irp    a, 0, 1, 2, 3, 4, 5, 6, 7
    .if \a < \n_q
    store_score \a, \v, %(\n_v * \a + \v)
    .endif
    .endr
    .if \v + 1 < \n_v
    lea     key, [position + 32 * \v + 32]
    cmp     key, n_bytes
    jae     \last
    .endif
.endm

// Compute the next n_q queries over all positions, n_v vectors at a time.
.macro score_vectors n_q, n_v
    xor     position_32, position_32
.Lpositions\@:
    lea     key, [keys + position]
    mov     query, queries
    .irp    acc, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \acc < \n_q * \n_v
    zero    \acc
    .endif
    .endr
    cmp     query, query_end
    je      .Lstore\@
.Ldimension\@:
    prefetcht1 [key + tile_bytes]
    .if \n_v > 2
    prefetcht1 [key + tile_bytes + 64]
    .endif
    .irp    v, 0, 1, 2, 3
    .if \v < \n_v
    load_keys \v, %(16 + \v)
    multiply_vector \n_q, \n_v, \v
    .endif
    .endr
    add     query, 4
    add     key, KEY_BYTES
    cmp     query, query_end
    jne     .Ldimension\@
.Lstore\@:
    .irp    v, 0, 1, 2, 3
    .if \v < \n_v
    store_vector \n_q, \n_v, \v, .Lstored\@
    .endif
    .endr
.Lstored\@:
    add     position, 32 * \n_v
    cmp     position, n_bytes
    jb      .Lpositions\@
    add     scores, \n_q * SCORE_ROW_BYTES
    next_rows queries, \n_q
    next_rows query_end, \n_q
.endm

.macro score_queries n_q
    .if \n_q > 4
    score_vectors \n_q, 2
    .else
    score_vectors \n_q, 4
    .endif
.endm

func score_f32_f16_avx512
    push_saved rbx, rbp, r12, r13, r14
    prepare_strides
    lea     query_end, [queries + stride]
    mov     tile_bytes, stride
    shl     tile_bytes, 5           // a dimension: 128 bytes of keys, 4 bytes of a query
    add     n_bytes, n_bytes
    jz      9f
    for_queries n_queries, 8, score_queries
9:
    pop_saved r14, r13, r12, rbp, rbx
endfunc score_f32_f16_avx512
