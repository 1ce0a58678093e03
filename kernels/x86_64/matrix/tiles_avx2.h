// The loops of the integer gemms (8 rows by 4 tokens) and of the gemvs of the K formats (8 by 1), with AVX2.
//
// rdi y; rsi w; rdx x; rcx shape, then `group`, the current block in w;
// r8 rows left; r9 blocks of a row; r10 bytes from one row of y to the next;
// r11 y of the current tokens; r12 x of the current block; r13 blocks left; r14 tokens left;
// rbx tokens; r15 frame; rax scratch;
// ymm0-ymm3 y of 8 rows by 4 tokens; ymm4 mask of rows; ymm14 scratch.
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm4, ymm14 and what the body clobbers.
//
// 32 bytes of weights are 8 rows by 4 columns. A 32-bit lane is therefore a row, and 4 columns
// of a token are broadcast to it. All tokens are multiplied by 8 rows, then by the next 8.
//
// vpmaddubsw multiplies unsigned by signed bytes and adds pairs, which saturate at 16 bits. A pair of
// nibbles times any x is at most 2 * 15 * 128 = 3840, so an int16 can add 8 of them: 30720.
//
// A kernel that defines AVX_VNNI before it includes this uses vpdpbusd in its VEX coding, for processors
// without AVX-512. vpdpbusd adds four products in 32 bits without overflow. {vex} selects this coding;
// without {vex} the assembler would use the coding of AVX-512. The VEX coding has no broadcast operand.
#ifndef INGOT_KERNELS_X86_64_TILES_AVX2_H
#define INGOT_KERNELS_X86_64_TILES_AVX2_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

    .altmacro                       // allows %(register number) in arguments of macros

#define out rdi
#define weights rsi
#define tokens rdx
#define shape rcx
#define group rcx
#define rows_left r8
#define n_rows_32 r8d
#define n_blocks r9
#define y_stride r10
#define y_row r11
#define block r12
#define blocks_left r13
#define tokens_left r14
#define n_tokens rbx
#define frame r15

// The sum of one token += (or =) ymm weight * the token's 4 columns at `at`.
.macro multiply_token sum, weight, at, begin
    vpbroadcastd ymm14, dword ptr [block + \at]
#ifdef AVX_VNNI
    .if \begin
    vpxor   xmm\sum, xmm\sum, xmm\sum
    .endif
    {vex} vpdpbusd ymm\sum, ymm\weight, ymm14
#else
    .if \begin
    vpmaddubsw ymm\sum, ymm\weight, ymm14
    .else
    vpmaddubsw ymm14, ymm\weight, ymm14
    vpaddw  ymm\sum, ymm\sum, ymm14
    .endif
#endif
.endm

// Allocate frame_bytes of stack. The frame starts at a multiple of 32, so up to 31 bytes are unused.
.macro enter_tiles frame_bytes
    push_saved rbx, r12, r13, r14, r15
    .if \frame_bytes
    take_stack \frame_bytes
    lea     frame, [rsp + 31]
    and     frame, -32
    .endif
.endm

.macro leave_tiles frame_bytes
    .if \frame_bytes
    give_stack \frame_bytes
    .endif
    pop_saved r15, r14, r13, r12, rbx
.endm

// Store y of n tokens, or of the remaining tokens if they are fewer.
.macro store_tokens n
    mov     ecx, 8                  // the register of `group` is free
    cmp     rows_left, 8
    cmovb   ecx, n_rows_32
    lane_mask 4, rcx
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    .if \t
    cmp     tokens_left, \t
    jbe     .Lstored\@
    .endif
    vmaskmovps [y_row], ymm4, ymm\t
    add     y_row, y_stride
    .endif
    .endr
.Lstored\@:
.endm

// `body` multiplies the block of 8 rows at `group` by the block of n tokens at `block`, and adds the
// products to ymm0-ymm3.
.macro multiply_tiles n, body, block_bytes, x_bytes
    test    rows_left, rows_left
    jz      .Ldone\@
.Lrows\@:                           // 8 rows, or the last 1 to 7
    mov     block, tokens
    mov     y_row, out
    mov     tokens_left, n_tokens
    test    tokens_left, tokens_left
    jz      .Lnext_rows\@
.Ltokens\@:                         // n tokens, or the last ones
    mov     group, weights
    mov     blocks_left, n_blocks
    .irp    t, 0, 1, 2, 3
    vpxor   xmm\t, xmm\t, xmm\t
    .endr
    test    blocks_left, blocks_left
    jz      .Lstore\@
.Lblock\@:
    \body
    add     group, \block_bytes
    add     block, \x_bytes
    dec     blocks_left
    jnz     .Lblock\@
.Lstore\@:
    store_tokens \n
    sub     tokens_left, \n
    ja      .Ltokens\@
.Lnext_rows\@:
    imul    rax, n_blocks, \block_bytes
    add     weights, rax
    add     out, 32
    sub     rows_left, 8
    ja      .Lrows\@
.Ldone\@:
.endm

// `columns` is log2 of the columns in a block. `begin` is a macro that runs before the loops, when
// the frame is set up.
.macro gemm_tiles name, body, columns, block_bytes, x_bytes, frame_bytes=0, begin
func \name
    enter_tiles \frame_bytes
    \begin
    mov     rows_left, [shape + SHAPE_ROWS]
    mov     n_blocks, [shape + SHAPE_COLS]
    mov     n_tokens, [shape + SHAPE_TOKENS]
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    shl     y_stride, 2
    shr     n_blocks, \columns
    multiply_tiles 4, <\body>, \block_bytes, \x_bytes
    leave_tiles \frame_bytes
endfunc \name
.endm

#endif
