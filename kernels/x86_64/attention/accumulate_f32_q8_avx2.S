// void accumulate_f32_q8_avx2(float *o, const struct score_row *s, const void *v, size_t n_q,
//                             size_t n, size_t d)
//
// rdi o; rsi s; rdx v; rcx n_q; r8 n; r9 d, then bytes of a row of o;
// rax bytes of the tile; r10 v of a position; r11 s of a position; rbx positions left;
// rbp bytes of a row of v; r12 three times r9; r13 scale of a position; r14 dimensions done; r15 o;
// [rsp] bytes of a position's scales;
// ymm0-ymm7 16 dimensions of four queries, ymm8 and ymm9 values, ymm10 a weight, ymm11 a scale.
// Clobbers rax, rcx, rdi, rsi, r8-r11, ymm0-ymm11.
//
// Works like accumulate_f32_f16_avx2.S: 4 queries by 16 dimensions. A position takes 8 fma, 4
// products of a weight and the position's scale, and 5 operations for the values: 6.3 cycles.
#include "kernels/x86_64/attention/attention.h"

#define scales rdx
#define n_queries rcx
#define n_positions r8
#define tile_bytes rax
#define value r10
#define weight r11
#define positions_left rbx
#define value_bytes rbp
#define scale r13
#define column r14
#define column_32 r14d

.macro add_value a, low, high
    vbroadcastss ymm10, dword ptr [weight + SCORE_ROW_BYTES * \a]
    vmulps  ymm10, ymm10, ymm11
    vfmadd231ps ymm\low, ymm8, ymm10
    vfmadd231ps ymm\high, ymm9, ymm10
.endm

// Compute all dimensions of the next n_q queries.
.macro accumulate_queries n_q
    xor     column_32, column_32
    mov     out, outs
.Lcolumn\@:
    mov     scale, column
    shr     scale, 5
    lea     scale, [scales + 4*scale]
    lea     value, [scales + 2*stride] // values follow KV_TILE scales for each 32 dimensions
    add     value, column
    mov     weight, rows
    mov     positions_left, n_positions
    for_pairs \n_q, 0, begin_output
    test    positions_left, positions_left
    jz      .Lend\@
.Lposition\@:
    prefetcht1 [value + tile_bytes]
    vpmovsxbd ymm8, [value]
    vpmovsxbd ymm9, [value + 8]
    vbroadcastss ymm11, dword ptr [scale]
    vcvtdq2ps ymm8, ymm8
    vcvtdq2ps ymm9, ymm9
    for_pairs \n_q, 0, add_value
    add     value, value_bytes
    add     scale, [rsp]
    add     weight, 4
    dec     positions_left
    jnz     .Lposition\@
.Lend\@:
    for_pairs \n_q, 0, end_output
    add     out, 64
    add     column, 16
    cmp     column, value_bytes
    jb      .Lcolumn\@
    add     rows, \n_q * SCORE_ROW_BYTES
    next_rows outs, \n_q
.endm

func accumulate_f32_q8_avx2
    push_saved rbx, rbp, r12, r13, r14, r15
    mov     value_bytes, stride
    imul    tile_bytes, stride, KV_TILE + KV_TILE / 8
    shr     stride, 3               // size of a position's scales in bytes
    push    stride
    .cfi_adjust_cfa_offset 8
    lea     stride, [4*value_bytes]
    lea     stride3, [stride + 2*stride]
    test    value_bytes, value_bytes
    jz      9f
    for_queries n_queries, 4, accumulate_queries
9:
    give_stack 8
    pop_saved r15, r14, r13, r12, rbp, rbx
endfunc accumulate_f32_q8_avx2
