// accumulate_f32_q8_q8 and accumulate_f32_q4_q8 with AVX2. Both kernels take strips of 16
// dimensions, for the first half of the tile, then for the second.
//
// rdi o; rsi s; rdx w; rcx v; r8 n_q; r9 d, then bytes of a row of w; r12 three times r9;
// rax, r10, r11 as in attention_int.h; rbx o of a row; rbp o of the strip; r13 w of the block; r14 v of the strip;
// r15 bytes left of the block's first group; [rsp] bytes of a row of o, end of the row.
#ifndef INGOT_KERNELS_X86_64_ACCUMULATE_INT_H
#define INGOT_KERNELS_X86_64_ACCUMULATE_INT_H

#include "kernels/x86_64/attention/attention_int.h"

#define weights rdx
#define values rcx
#define n_queries r8
#define out_row rbx
#define strip_out rbp
#define block_at r13
#define strip_at r14
#define strip_left r15
#define OUT_BYTES 0
#define OUT_END 8
#define ACCUMULATE_FRAME 24

// o = fma(sum, w.d, o); in the first half of the tile, o * factor replaces o. Destroys ymm8, ymm9
// and ymm14.
.macro add_sums half, a, low, high
    .if \half == 0
    vbroadcastss ymm14, dword ptr [rows + SCORE_ROW_BYTES * \a + SCORE_ROW_FACTOR]
    vmulps  ymm8, ymm14, [out_row]
    vmulps  ymm9, ymm14, [out_row + 32]
    .else
    vmovups ymm8, [out_row]
    vmovups ymm9, [out_row + 32]
    .endif
    at_row  <vbroadcastss ymm14, dword ptr>, \a, block, Q8_SCALE
    vfmadd231ps ymm8, ymm\low, ymm14
    vfmadd231ps ymm9, ymm\high, ymm14
    vmovups [out_row], ymm8
    vmovups [out_row + 32], ymm9
    add     out_row, [rsp + OUT_BYTES]
.endm

.macro add_row_q4 half, a
    float_sums_q4 \a, 12, 13
    add_sums \half, \a, 12, 13
.endm

.macro add_pair_q8 half, a, low, high
    vcvtdq2ps ymm\low, ymm\low
    vcvtdq2ps ymm\high, ymm\high
    add_sums \half, \a, \low, \high
.endm

.macro add_row_q8 half, a
    add_pair_q8 \half, \a, %(2 * \a), %(2 * \a + 1)
.endm

.macro accumulate_queries_of bits, n_q
    mov     strip_out, outs
    mov     block_at, weights
    mov     strip_at, values
    mov     out_row, [rsp + OUT_BYTES]
    add     out_row, outs
    mov     [rsp + OUT_END], out_row
.Lblock\@:
    mov     strip_left, group_stride
.Lstrip\@:
    mov     group, strip_at
    mov     block, block_at
    .irp    half, 0, 1
    sum_groups_q\bits \n_q
    mov     out_row, strip_out
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    add_row_q\bits \half, \a
    .endif
    .endr
    add     block, Q8_BYTES
    .endr
    add     strip_out, 64
    add     strip_at, 8 * \bits
    sub     strip_left, 8 * \bits
    jnz     .Lstrip\@
    add     block_at, 2 * Q8_BYTES
    imul    group, group_stride, 15     // the block's other groups
    add     strip_at, group
    cmp     strip_out, [rsp + OUT_END]
    jb      .Lblock\@
    add     rows, \n_q * SCORE_ROW_BYTES
    next_rows weights, \n_q
    .rept   \n_q
    add     outs, [rsp + OUT_BYTES]
    .endr
.endm

// The code of a kernel between func and endfunc. `body n` computes n queries.
.macro accumulate_int bits, body
    push_saved rbx, rbp, r12, r13, r14, r15
    take_stack ACCUMULATE_FRAME
    test    r9, r9
    jz      .Ldone\@
    lea     group, [4*r9]
    mov     [rsp + OUT_BYTES], group
    mov     group_stride, 32
    shr     stride, 5
    test    stride, 1
    jnz     .Lwidth\@
    mov     group_stride, 64
    shr     stride, 1
.Lwidth\@:
    imul    stride, stride, 2 * Q8_BYTES
    lea     stride3, [stride + 2*stride]
    imul    group_stride, group_stride, \bits / 2
    for_queries n_queries, 4, \body
.Ldone\@:
    give_stack ACCUMULATE_FRAME
    pop_saved r15, r14, r13, r12, rbp, rbx
.endm

#endif
