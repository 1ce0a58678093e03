// Shared by the attention kernels: rows of several queries.
#ifndef INGOT_KERNELS_X86_64_ATTENTION_H
#define INGOT_KERNELS_X86_64_ATTENTION_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

    .altmacro                       // allows %(register number) in arguments of macros

// The size in bytes of one dimension of a tile of fp16 keys.
#define KEY_BYTES (2 * KV_TILE)

// Run `body n` for n queries at a time (n is 4, 3, 2 or 1) until n_q queries are done. The
// body advances its pointers to the next query. If first_most is 8, the first runs take 8
// queries at a time.
.macro for_queries n_q, first_most, body
    .if \first_most == 8
    sub     \n_q, 8
    jb      .Lbelow_eight\@
.Leight\@:
    \body   8
    sub     \n_q, 8
    jae     .Leight\@
.Lbelow_eight\@:
    add     \n_q, 8
    .endif
    sub     \n_q, 4
    jb      .Lbelow_four\@
.Lfour\@:
    \body   4
    sub     \n_q, 4
    jae     .Lfour\@
.Lbelow_four\@:
    add     \n_q, 4
    jz      .Ldone\@
    cmp     \n_q, 2
    je      .Ltwo\@
    ja      .Lthree\@
    \body   1
    jmp     .Ldone\@
.Ltwo\@:
    \body   2
    jmp     .Ldone\@
.Lthree\@:
    \body   3
.Ldone\@:
.endm

// Rows of queries or outputs are `stride` bytes apart; d (r9) is these kernels' last argument.
#define stride r9
#define stride3 r12
#define stride5 r13
#define stride7 r14

// Set stride to 4 d bytes, and stride3, stride5 and stride7 to 3, 5 and 7 times that.
.macro prepare_strides
    shl     stride, 2
    lea     stride3, [stride + 2*stride]
    lea     stride5, [stride + 4*stride]
    lea     stride7, [stride + 2*stride3]
.endm

// Assemble `op [address] after` with the address of byte `at` of row a (0 to 7). Row 0 is at
// base.
.macro at_row op, a, base, at=0, after
    .if \a == 0
    \op     [\base + \at] \after
    .elseif \a == 1
    \op     [\base + stride + \at] \after
    .elseif \a == 2
    \op     [\base + 2*stride + \at] \after
    .elseif \a == 3
    \op     [\base + stride3 + \at] \after
    .elseif \a == 4
    \op     [\base + 4*stride + \at] \after
    .elseif \a == 5
    \op     [\base + stride5 + \at] \after
    .elseif \a == 6
    \op     [\base + 2*stride3 + \at] \after
    .else
    \op     [\base + stride7 + \at] \after
    .endif
.endm

// For each query a, run `op a, [chunk,] r, r + 1`, where r is first + 2 a.
.macro for_pairs n_q, first, op, chunk
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    .ifb \chunk
    \op     \a, %(\first + 2 * \a), %(\first + 2 * \a + 1)
    .else
    \op     \a, \chunk, %(\first + 2 * \a), %(\first + 2 * \a + 1)
    .endif
    .endif
    .endr
.endm

// Names that the accumulating kernels share: o, the current o, and s.
#define outs rdi
#define out r15
#define rows rsi

// ymm low, high = (16 floats at `out` of output a) * (the factor of its row). Destroys ymm10.
.macro begin_output a, low, high
    vbroadcastss ymm10, dword ptr [rows + SCORE_ROW_BYTES * \a + SCORE_ROW_FACTOR]
    at_row  <vmulps ymm\low, ymm10,>, \a, out
    at_row  <vmulps ymm\high, ymm10,>, \a, out, 32
.endm

.macro end_output a, low, high
    at_row  <vmovups>, \a, out, 0, <, ymm\low>
    at_row  <vmovups>, \a, out, 32, <, ymm\high>
.endm

// base += n rows; n is 1, 2, 3, 4 or 8.
.macro next_rows base, n
    .if \n == 3
    add     \base, stride3
    .else
    lea     \base, [\base + \n*stride]
    .endif
.endm

#endif
