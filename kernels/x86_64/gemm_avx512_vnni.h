// The gemm of Q4_0 and Q8_0 by AVX-512 VNNI: 16 rows by 8 tokens, and by 4 where no more are left.
//
// rdi y  rsi w  rdx x  rcx shape, then what to prefetch: with the last tokens the next 16 rows
// r8 rows left  r9 blocks of a row  r10 bytes from one row of y to the next
// rbx group a  rbp group b: where the loop over blocks is in w
// r11 y of the tokens at work  r12 x of four tokens  r13 x of the four after them
// r14 tokens left  r15 blocks left  rax scratch
// zmm0-zmm7 y of 16 rows by 8 tokens  zmm8-zmm15 integer sums  zmm16-zmm23 weights of a block
// zmm24 their scales  zmm25, zmm26 scratch  zmm27 mask or flip  zmm28 zero  k1 rows to store
// Clobbers rax, rcx, rsi, rdi, r8-r11, zmm0-zmm28, k1.
//
// Per block, 16 rows and token: 8 vpdpbusd, a multiplication and an fma of float, and 2 others; the
// weights of a block are unpacked once for 8 tokens. The first ten share one 512-bit multiplier on
// Zen 4: 80 % of its peak is the limit, and reached. While the last tokens of 16 rows are at work,
// the weights of the next 16 are prefetched.
#ifndef INGOT_KERNELS_X86_64_GEMM_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_AVX512_VNNI_H

#include "kernels/x86_64/avx512_vnni.h"

#define later rcx
#define x_first r12
#define x_second r13

// The frame: what each token's integer sum begins with, then the shape.
#define SUMS 0
#define SHAPE 32
#define FRAME 56

// Minus `bias` (a power of two, as a shift) times the sums of four tokens to the stack.
.macro store_bias x, at, shift
    vmovdqu32 xmm25, [\x + Q8X4_SUM]
    vpslld  xmm25, xmm25, \shift
    vpsubd  xmm25, xmm28, xmm25
    vmovdqu32 [rsp + SUMS + \at], xmm25
.endm

.macro multiply_chunk sum, weight, x, at
    vpdpbusd zmm\sum, zmm\weight, dword ptr [\x + \at]{1to16}
.endm

// Chunk number `chunk` of the block by the tokens of one group of four, whose sums begin at
// zmm `sum`.
.macro multiply_four sum, chunk, x
    multiply_chunk %(\sum + 0), %(16 + \chunk), \x, (16 * \chunk + 0)
    multiply_chunk %(\sum + 1), %(16 + \chunk), \x, (16 * \chunk + 4)
    multiply_chunk %(\sum + 2), %(16 + \chunk), \x, (16 * \chunk + 8)
    multiply_chunk %(\sum + 3), %(16 + \chunk), \x, (16 * \chunk + 12)
.endm

.macro begin_sums sum, at
    vpbroadcastd zmm\sum, dword ptr [rsp + SUMS + \at]
.endm

// One token's block into its y.
.macro add_block y, sum, x, at
    vmulps  zmm25, zmm24, dword ptr [\x + Q8X4_SCALE + \at]{1to16}
    vcvtdq2ps zmm\sum, zmm\sum
    vfmadd231ps zmm\y, zmm\sum, zmm25
.endm

.macro store_token y
    vmovups [rax]{k1}, zmm\y
    add     rax, y_stride
.endm

// y of the tokens left, at most `most`, from zmm0 on.
.macro store_tokens most
    mov     rax, y_row
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    .if \t < \most
    .if \t
    cmp     tokens_left, \t
    jbe     .Lstored\@
    .endif
    store_token \t
    .endif
    .endr
.Lstored\@:
.endm

// shift: 2 to the shift is what makes a weight unsigned; it comes off with the sums of x. constant:
// the mask or flip, as a word.
.macro gemm_vnni name, load, block_bytes, shift, constant
func \name
    push_saved rbx, rbp, r12, r13, r14, r15
    take_stack FRAME
    mov     [rsp + SHAPE], shape
    mov     rows_left, [shape + SHAPE_ROWS]
    mov     n_blocks, [shape + SHAPE_COLS]
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    shl     y_stride, 2
    shr     n_blocks, 5
    mov     eax, \constant
    vpbroadcastd zmm27, eax
    vpxord  zmm28, zmm28, zmm28
    test    rows_left, rows_left
    jz      .Ldone\@
.Lrows\@:                           // 16 rows, or the last 1 to 15
    row_mask rows_left
    mov     rax, [rsp + SHAPE]
    mov     tokens_left, [rax + SHAPE_TOKENS]
    mov     y_row, out
    mov     x_first, tokens
    test    tokens_left, tokens_left
    jz      .Lnext_rows\@
.Leight_tokens\@:                   // 8 tokens, or the last 1 to 4
    find_groups \block_bytes
    mov     blocks_left, n_blocks
    imul    rax, n_blocks, Q8X4_BYTES
    lea     x_second, [x_first + rax]
    imul    rax, n_blocks, 2 * \block_bytes
    add     rax, weights
    mov     later, weights
    cmp     tokens_left, 8
    cmovbe  later, rax              // the last tokens: the next rows
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    vpxord  zmm\t, zmm\t, zmm\t
    .endr
    cmp     tokens_left, 4
    jbe     .Lfour_tokens\@
    test    blocks_left, blocks_left
    jz      .Lstore\@
.Lblock\@:
    .irp    line, 0, 1, 2, 3, 4, 5, 6, 7, 8
    .if 64 * \line < 2 * \block_bytes
    prefetcht0 [later + 64 * \line]
    .endif
    .endr
    add     later, 2 * \block_bytes
    store_bias x_first, 0, \shift
    store_bias x_second, 16, \shift
    \load   16, 27
    load_scales 24, 26
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    begin_sums %(8 + \t), (4 * \t)
    .endr
    .irp    chunk, 0, 1, 2, 3, 4, 5, 6, 7
    multiply_four 8, \chunk, x_first
    multiply_four 12, \chunk, x_second
    .endr
    .irp    t, 0, 1, 2, 3
    add_block \t, %(8 + \t), x_first, (4 * \t)
    .endr
    .irp    t, 0, 1, 2, 3
    add_block %(4 + \t), %(12 + \t), x_second, (4 * \t)
    .endr
    add     group_a, \block_bytes
    add     group_b, \block_bytes
    add     x_first, Q8X4_BYTES
    add     x_second, Q8X4_BYTES
    dec     blocks_left
    jnz     .Lblock\@
.Lstore\@:
    store_tokens 8
    mov     x_first, x_second
    lea     y_row, [y_row + 8*y_stride]
    sub     tokens_left, 8
    ja      .Leight_tokens\@
    jmp     .Lnext_rows\@
.Lfour_tokens\@:                    // the last 1 to 4 tokens
    test    blocks_left, blocks_left
    jz      .Lstore_last\@
.Llast_block\@:
    store_bias x_first, 0, \shift
    \load   16, 27
    load_scales 24, 26
    .irp    t, 0, 1, 2, 3
    begin_sums %(8 + \t), (4 * \t)
    .endr
    .irp    chunk, 0, 1, 2, 3, 4, 5, 6, 7
    multiply_four 8, \chunk, x_first
    .endr
    .irp    t, 0, 1, 2, 3
    add_block \t, %(8 + \t), x_first, (4 * \t)
    .endr
    add     group_a, \block_bytes
    add     group_b, \block_bytes
    add     x_first, Q8X4_BYTES
    dec     blocks_left
    jnz     .Llast_block\@
.Lstore_last\@:
    store_tokens 4
.Lnext_rows\@:
    imul    rax, n_blocks, 2 * \block_bytes
    add     weights, rax
    add     out, 64
    sub     rows_left, 16
    ja      .Lrows\@
.Ldone\@:
    give_stack FRAME
    pop_saved r15, r14, r13, r12, rbp, rbx
endfunc \name
.endm

#endif
