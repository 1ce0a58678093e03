// void accumulate_f32_f16_avx2(float *o, const struct score_row *s, const uint16_t *v, size_t n_q,
//                              size_t n, size_t d)
//
// rdi o; rsi s; rdx v; rcx n_q; r8 n; r9 d, then bytes of a row of o;
// rax dimensions left, scratch; r10 v of a position; r11 s of a position; rbx positions left;
// rbp bytes of a row of v; r12 three times r9; r13 dimensions of the tail, bytes of the tile;
// r14 v; r15 o;
// ymm0-ymm7 16 dimensions of four queries, ymm8 and ymm9 values, ymm10 a weight, ymm11 mask.
// Clobbers rax, rcx, rdx, rdi, rsi, r8-r11, ymm0-ymm11.
//
// Takes 4 queries (3, 2, 1 at the end) by 16 dimensions: a position's values are converted
// once for all of them. A position takes 8 fma, 4 broadcasts and 2 conversions: 4.6 cycles. If d %
// 16 is not 0 (no model has this), the last d % 16 dimensions are computed eight at a time, one
// query after the other. The next tile is prefetched meanwhile, as in score_f32_f16_avx2.S.
#include "kernels/x86_64/attention/attention.h"

#define values rdx
#define n_queries rcx
#define n_positions r8
#define value r10
#define weight r11
#define positions_left rbx
#define left_32 ebx
#define value_bytes rbp
#define column r14
#define tile_bytes r13
#define tail r13
#define tail_32 r13d
#define count rax

.macro add_value a, low, high
    vbroadcastss ymm10, dword ptr [weight + SCORE_ROW_BYTES * \a]
    vfmadd231ps ymm\low, ymm8, ymm10
    vfmadd231ps ymm\high, ymm9, ymm10
.endm

// Compute the first d - d % 16 dimensions of the next n_q queries.
.macro accumulate_queries n_q
    mov     count, stride
    shr     count, 2
    mov     out, outs
    mov     column, values
    sub     count, 16
    jb      .Lnext_rows\@
.Lcolumn\@:
    for_pairs \n_q, 0, begin_output
    mov     value, column
    mov     weight, rows
    mov     positions_left, n_positions
    test    positions_left, positions_left
    jz      .Lend\@
.Lposition\@:
    prefetcht1 [value + tile_bytes]
    vcvtph2ps ymm8, [value]
    vcvtph2ps ymm9, [value + 16]
    for_pairs \n_q, 0, add_value
    add     value, value_bytes
    add     weight, 4
    dec     positions_left
    jnz     .Lposition\@
.Lend\@:
    for_pairs \n_q, 0, end_output
    add     out, 64
    add     column, 32
    sub     count, 16
    jae     .Lcolumn\@
.Lnext_rows\@:
    add     rows, \n_q * SCORE_ROW_BYTES
    next_rows outs, \n_q
.endm

.macro load_eight
    vcvtph2ps ymm8, [value]
.endm

.macro load_ragged
    load_ragged_halves 8, value, tail_32
    vcvtph2ps ymm8, xmm8
.endm

// Compute eight dimensions of one query, or those that the mask selects, from out and column on.
.macro accumulate_eight load
    vbroadcastss ymm10, dword ptr [rows + SCORE_ROW_FACTOR]
    vmaskmovps ymm0, ymm11, [out]
    vmulps  ymm0, ymm0, ymm10
    mov     value, column
    mov     weight, rows
    mov     positions_left, n_positions
    test    positions_left, positions_left
    jz      .Lstore\@
.Lposition\@:
    \load
    vbroadcastss ymm10, dword ptr [weight]
    vfmadd231ps ymm0, ymm8, ymm10
    add     value, value_bytes
    add     weight, 4
    dec     positions_left
    jnz     .Lposition\@
.Lstore\@:
    vmaskmovps [out], ymm11, ymm0
.endm

// Compute the last d % 16 dimensions of the query at outs and rows.
.macro accumulate_tail
    mov     rax, stride
    and     rax, -64
    lea     out, [outs + rax]
    shr     rax, 1
    lea     column, [values + rax]
    test    tail_32, 8
    jz      .Lbelow_eight\@
    vpcmpeqd ymm11, ymm11, ymm11
    accumulate_eight load_eight
    add     out, 32
    add     column, 16
.Lbelow_eight\@:
    test    tail_32, 7
    jz      .Lnext_row\@
    mov     left_32, tail_32
    and     left_32, 7
    lane_mask 11, positions_left
    accumulate_eight load_ragged
.Lnext_row\@:
    add     rows, SCORE_ROW_BYTES
    add     outs, stride
.endm

func accumulate_f32_f16_avx2
    push_saved rbx, rbp, r12, r13, r14, r15
    mov     tail, stride
    lea     value_bytes, [stride + stride]
    shl     stride, 2
    lea     stride3, [stride + 2*stride]
    test    n_queries, n_queries
    jz      99f
    and     tail, 15
    jz      11f
    push_saved outs, rows, n_queries
10:
    accumulate_tail
    dec     n_queries
    jnz     10b
    pop_saved n_queries, rows, outs
11:
    mov     tile_bytes, value_bytes
    shl     tile_bytes, 6
    for_queries n_queries, 4, accumulate_queries
99:
    pop_saved r15, r14, r13, r12, rbp, rbx
endfunc accumulate_f32_f16_avx2
