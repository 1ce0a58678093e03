// The gemm of f32 and fp16 weights with AVX2: two ymm hold the 16 lanes of a dot product.
//
// rdi y of the current tokens; rsi w; rdx x, then the current w; rcx shape, then bytes
// from one row of y to the next;
// r8 rows left; r9 columns; r10 tokens left; r11 the current y;
// rbx, rbp, r12, r13 x of four tokens; r14 column; r15 bytes from one row of x to the next;
// rax scratch; [rsp] rows;
// ymm0-ymm7 16 lanes of four tokens, ymm8 and ymm9 weights.
// Clobbers rax, rcx, rdx, rsi, rdi, r8-r11, ymm0-ymm9.
//
// All rows are multiplied by four tokens, then by the next four tokens. The x of four tokens
// stays in the first-level cache, the rows (a part of W) in the second. For 16 columns, a row
// takes 8 fma with x from memory: 5.3 cycles. If the last group has fewer than four tokens, its
// first one takes the place of the missing ones.
#ifndef INGOT_KERNELS_X86_64_GEMM_FLOATS_AVX2_H
#define INGOT_KERNELS_X86_64_GEMM_FLOATS_AVX2_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

#define out rdi
#define weights rsi
#define tokens rdx
#define weight rdx
#define shape rcx
#define y_stride rcx
#define rows_left r8
#define n_cols r9
#define tokens_left r10
#define y_row r11
#define x_first rbx
#define x_second rbp
#define x_third r12
#define x_fourth r13
#define position r14
#define position_32 r14d
#define x_stride r15

// ymm8, ymm9 = 16 weights from the column on.
.macro load_f32
    vmovups ymm8, [weight + 4*position]
    vmovups ymm9, [weight + 4*position + 32]
.endm

.macro load_f16
    vcvtph2ps ymm8, [weight + 2*position]
    vcvtph2ps ymm9, [weight + 2*position + 16]
.endm

.macro gemm_floats name, load, weight_bytes
func \name
    push_saved rbx, rbp, r12, r13, r14, r15
    push    [shape + SHAPE_ROWS]
    .cfi_adjust_cfa_offset 8
    mov     x_first, tokens
    mov     n_cols, [shape + SHAPE_COLS]
    mov     tokens_left, [shape + SHAPE_TOKENS]
    mov     x_stride, [shape + SHAPE_X_STRIDE]
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    shl     x_stride, 2
    shl     y_stride, 2
    cmp     qword ptr [rsp], 0
    je      .Ldone\@
    test    tokens_left, tokens_left
    jz      .Ldone\@
.Ltokens\@:                         // four tokens, or the last 1 to 3
    lea     x_second, [x_first + x_stride]
    lea     x_third, [x_first + 2*x_stride]
    lea     x_fourth, [x_second + 2*x_stride]
    cmp     tokens_left, 2
    cmovb   x_second, x_first
    cmovbe  x_third, x_first
    cmp     tokens_left, 3
    cmovbe  x_fourth, x_first
    mov     rows_left, [rsp]
    mov     weight, weights
    mov     y_row, out
.Lrow\@:                            // a row
    .irp    reg, 0, 1, 2, 3, 4, 5, 6, 7
    vxorps  xmm\reg, xmm\reg, xmm\reg
    .endr
    xor     position_32, position_32
    test    n_cols, n_cols
    jz      .Lfold\@
.Lcolumns\@:
    \load
    vfmadd231ps ymm0, ymm8, [x_first + 4*position]
    vfmadd231ps ymm1, ymm9, [x_first + 4*position + 32]
    vfmadd231ps ymm2, ymm8, [x_second + 4*position]
    vfmadd231ps ymm3, ymm9, [x_second + 4*position + 32]
    vfmadd231ps ymm4, ymm8, [x_third + 4*position]
    vfmadd231ps ymm5, ymm9, [x_third + 4*position + 32]
    vfmadd231ps ymm6, ymm8, [x_fourth + 4*position]
    vfmadd231ps ymm7, ymm9, [x_fourth + 4*position + 32]
    add     position, 16
    cmp     position, n_cols
    jb      .Lcolumns\@
.Lfold\@:
    fold_four_rows                  // a row of the macro is a token here
    vmovss  dword ptr [y_row], xmm0
    cmp     tokens_left, 2
    jb      .Lstored\@
    vextractps [y_row + y_stride], xmm0, 1
    je      .Lstored\@
    lea     rax, [y_row + y_stride]
    vextractps [y_row + 2*y_stride], xmm0, 2
    cmp     tokens_left, 4
    jb      .Lstored\@
    vextractps [rax + 2*y_stride], xmm0, 3
.Lstored\@:
    add     y_row, 4
    lea     weight, [weight + \weight_bytes*n_cols]
    dec     rows_left
    jnz     .Lrow\@
    lea     out, [out + 4*y_stride]
    lea     x_first, [x_first + 4*x_stride]
    sub     tokens_left, 4
    ja      .Ltokens\@
.Ldone\@:
    give_stack 8
    pop_saved r15, r14, r13, r12, rbp, rbx
endfunc \name
.endm

#endif
