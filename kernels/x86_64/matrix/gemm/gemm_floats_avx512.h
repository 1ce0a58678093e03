// The gemm of f32 and fp16 weights by AVX-512: a zmm holds the 16 lanes of a dot product.
//
// rdi y; rsi w; rdx x; rcx shape, then bytes from one row of y to the next;
// r8 rows left; r9 bytes of a row of w; r10 tokens left; r11 the current y;
// rbx current w; rbp end of its first row; r12 current x; r13 three rows of w; r14 three of x;
// r15 bytes from one row of x to the next; rax x of the first current token;
// [rsp] tokens;
// zmm0-zmm7 scratch of the folding, zmm8-zmm23 16 lanes of token t, row r in 8 + 4 t + r,
// zmm24-zmm27 weights, zmm28 x.
// Clobbers rax, rcx, rsi, rdi, r8-r11, zmm0-zmm28.
//
// Takes 4 rows by 4 tokens at a time (16 fma for 8 loads), and single rows or tokens at the end.
// Four rows stay in the first levels of cache for all tokens. The kernel reaches 0.95 fma per
// cycle; Zen 4 can do one.
#ifndef INGOT_KERNELS_X86_64_GEMM_FLOATS_AVX512_H
#define INGOT_KERNELS_X86_64_GEMM_FLOATS_AVX512_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

    .altmacro                       // allows %(register number) in arguments of macros

#define out rdi
#define weights rsi
#define tokens rdx
#define shape rcx
#define y_stride rcx
#define rows_left r8
#define row_bytes r9
#define tokens_left r10
#define y_token r11
#define weight rbx
#define weight_end rbp
#define x_at r12
#define row_bytes3 r13
#define x_stride3 r14
#define x_stride r15
#define x_first rax

.macro load_f32 reg, at:vararg
    vmovups zmm\reg, [\at]
.endm

.macro load_f16 reg, at:vararg
    vcvtph2ps zmm\reg, [\at]
.endm

.macro load_row load, r, reg
    .if \r == 0
    \load   \reg, weight
    .elseif \r == 1
    \load   \reg, weight + row_bytes
    .elseif \r == 2
    \load   \reg, weight + 2*row_bytes
    .else
    \load   \reg, weight + row_bytes3
    .endif
.endm

.macro load_token t
    .if \t == 0
    vmovups zmm28, [x_at]
    .elseif \t == 1
    vmovups zmm28, [x_at + x_stride]
    .elseif \t == 2
    vmovups zmm28, [x_at + 2*x_stride]
    .else
    vmovups zmm28, [x_at + x_stride3]
    .endif
.endm

.macro zero acc
    vpxord  zmm\acc, zmm\acc, zmm\acc
.endm

.macro multiply acc, row
    vfmadd231ps zmm\acc, zmm\row, zmm28
.endm

// ymm low, high = the halves of zmm from; zmm low keeps both halves.
.macro part_lanes low, high, from
    vmovaps zmm\low, zmm\from
    vextractf64x4 ymm\high, zmm\from, 1
.endm

// Store the sums of token t over r rows of w to its y, at y_token.
.macro store_token t, r
    .if \r == 1
    part_lanes 0, 1, %(8 + 4 * \t)
    fold_lanes 0, 1
    vmovss  dword ptr [y_token], xmm0
    .else
    part_lanes 0, 1, %(8 + 4 * \t)
    part_lanes 2, 3, %(9 + 4 * \t)
    part_lanes 4, 5, %(10 + 4 * \t)
    part_lanes 6, 7, %(11 + 4 * \t)
    fold_four_rows
    vmovups [y_token], xmm0
    .endif
    add     y_token, y_stride
.endm

// Multiply n_r rows by n_t tokens, over all columns.
.macro multiply_block load, weight_bytes, n_r, n_t
    .irp    t, 0, 1, 2, 3
    .irp    r, 0, 1, 2, 3
    .if (\t < \n_t) && (\r < \n_r)
    zero    %(8 + 4 * \t + \r)
    .endif
    .endr
    .endr
    mov     weight, weights
    mov     x_at, x_first
    cmp     weight, weight_end
    je      .Lfold\@
.Lcolumns\@:
    .irp    r, 0, 1, 2, 3
    .if \r < \n_r
    load_row \load, \r, %(24 + \r)
    .endif
    .endr
    .irp    t, 0, 1, 2, 3
    .if \t < \n_t
    load_token \t
    .irp    r, 0, 1, 2, 3
    .if \r < \n_r
    multiply %(8 + 4 * \t + \r), %(24 + \r)
    .endif
    .endr
    .endif
    .endr
    add     weight, 16 * \weight_bytes
    add     x_at, 64
    cmp     weight, weight_end
    jne     .Lcolumns\@
.Lfold\@:
    .irp    t, 0, 1, 2, 3
    .if \t < \n_t
    store_token \t, \n_r
    .endif
    .endr
.endm

// Multiply the next n_r rows by all tokens.
.macro multiply_rows load, weight_bytes, n_r
    mov     tokens_left, [rsp]
    mov     y_token, out
    mov     x_first, tokens
    lea     weight_end, [weights + row_bytes]
    sub     tokens_left, 4
    jb      .Llast_tokens\@
.Lfour_tokens\@:
    multiply_block \load, \weight_bytes, \n_r, 4
    lea     x_first, [x_first + 4*x_stride]
    sub     tokens_left, 4
    jae     .Lfour_tokens\@
.Llast_tokens\@:
    add     tokens_left, 4
    jz      .Lnext_rows\@
.Ltoken\@:
    multiply_block \load, \weight_bytes, \n_r, 1
    add     x_first, x_stride
    dec     tokens_left
    jnz     .Ltoken\@
.Lnext_rows\@:
    lea     weights, [weights + \n_r*row_bytes]
    add     out, 4 * \n_r
.endm

.macro gemm_floats name, load, weight_bytes
func \name
    push_saved rbx, rbp, r12, r13, r14, r15
    push    [shape + SHAPE_TOKENS]
    .cfi_adjust_cfa_offset 8
    mov     rows_left, [shape + SHAPE_ROWS]
    mov     row_bytes, [shape + SHAPE_COLS]
    mov     x_stride, [shape + SHAPE_X_STRIDE]
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    imul    row_bytes, row_bytes, \weight_bytes
    shl     x_stride, 2
    shl     y_stride, 2
    lea     row_bytes3, [row_bytes + 2*row_bytes]
    lea     x_stride3, [x_stride + 2*x_stride]
    sub     rows_left, 4
    jb      .Llast_rows\@
.Lfour_rows\@:
    multiply_rows \load, \weight_bytes, 4
    sub     rows_left, 4
    jae     .Lfour_rows\@
.Llast_rows\@:
    add     rows_left, 4
    jz      .Ldone\@
.Lrow\@:
    multiply_rows \load, \weight_bytes, 1
    dec     rows_left
    jnz     .Lrow\@
.Ldone\@:
    give_stack 8
    pop_saved r15, r14, r13, r12, rbp, rbx
endfunc \name
.endm

#endif
