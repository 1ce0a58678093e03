// y += B u in groups of 8 rows, stored as [rank][8]: a register holds one column of B.
//
// rdi y; rsi b; rdx the end of u; rcx rows left; r8 rank, negated; r9 bytes of a group; r10 three
// times r9; r11 columns left, negated; rax scratch;
// ymm0-ymm3 y of four groups, ymm4-ymm7 B, ymm8 one of u, ymm15 mask of the last rows.
// Clobbers rax, rcx, rdx, rdi, rsi, r8-r11, ymm0-ymm8, ymm15.
//
// Four groups share an element of u, so that four fma are in progress at the same time; the last
// one to three groups are computed one by one. If the last group has fewer than 8 rows, 8 are
// computed, but only existing rows are stored.
//
// A kernel that includes this sets COLUMN_BYTES, the size of 8 rows, and defines this macro:
//     add_column y, b, at    ymm y += the column of B at `at` times ymm8; b is scratch.
#ifndef INGOT_KERNELS_X86_64_EXPAND_AVX2_H
#define INGOT_KERNELS_X86_64_EXPAND_AVX2_H

#include "kernels/x86_64/vector/strips.h"

#define out rdi
#define column rsi
#define vector_end rdx
#define left rcx
#define left_32 ecx
#define minus_rank r8
#define group_bytes r9
#define group_bytes3 r10
#define index r11

.macro load_rows v, y, b, unused, at, tail
    load    \v, \y, out+\at, \tail
.endm

.macro store_rows v, y, b, unused, at, tail
    store   \v, \y, out+\at, \tail
.endm

.macro add_group v, y, b, unused, at, tail
    .if \at == 0
    add_column \y, \b, column
    .elseif \at == 32
    add_column \y, \b, column+group_bytes
    .elseif \at == 64
    add_column \y, \b, column+2*group_bytes
    .else
    add_column \y, \b, column+group_bytes3
    .endif
.endm

.macro expand_groups v, count, tail
    for_strip \v, \count, load_rows, \tail
    mov     index, minus_rank
.Lcolumn\@:
    vbroadcastss ymm8, dword ptr [vector_end + 4*index]
    for_strip \v, \count, add_group
    add     column, COLUMN_BYTES
    inc     index
    jnz     .Lcolumn\@
    for_strip \v, \count, store_rows, \tail
    add     out, 32 * \count
    .if \count == 4
    add     column, group_bytes3
    .endif
.endm

.macro expand_avx2 name
func \name
    lea     vector_end, [vector_end + 4*minus_rank]
    imul    group_bytes, minus_rank, COLUMN_BYTES
    lea     group_bytes3, [group_bytes + 2*group_bytes]
    neg     minus_rank
    for_columns ymm, left, left_32, expand_groups
endfunc \name
.endm

#endif
