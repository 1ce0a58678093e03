// The states of recurrent mixers; AVX2 and AVX-512 share one body. A lane is a column, so nothing
// is folded.
//
// rdi s; rsi o; rdx q; rcx k; r8 v; r9 columns, first the shape; xmm0 decay; xmm1 beta;
// r10 bytes of a row; r11 rows; rax a row; rbx number of the row;
// ymm or zmm: 0-3 state; 4-7 input of the state (d or dt x); 8-11 sums; 12 decay; 13 element of
// k, q, b or c; 14 beta or dt; masks as in vectors.h. Clobbers rax, rsi, rdi, r8-r11, all of
// ymm0-ymm15 (AVX2), zmm0-zmm14, k1 (AVX-512); mamba2 also clobbers rdx; rbx is saved.
//
// delta makes two passes over a strip of columns, which stays in the first-level cache. The
// first pass multiplies the state by k. The second pass decays the state, writes it and computes
// the output. The first pass does not store a decayed state, because a store would cost more than
// the product that decays the state in the second pass. mamba2 makes only the second pass.
#ifndef INGOT_KERNELS_X86_64_STATES_H
#define INGOT_KERNELS_X86_64_STATES_H

#include "kernels/blocks.h"
#include "kernels/x86_64/vector/strips.h"

#define strip rdi               /* s, at the strip's first column */
#define out rsi
#define reads rdx               /* q or c */
#define writes rcx              /* k or b */
#define inputs r8               /* v or x */
#define left r9
#define left_32 r9d
#define stride r10
#define n_rows r11
#define row rax
#define index rbx

.macro clear_sum v, state, in, sum, at, tail
    vxorps  xmm\sum, xmm\sum, xmm\sum
.endm

.macro load_in v, state, in, sum, at, tail
    load    \v, \in, inputs+\at, \tail
.endm

.macro read_key v, state, in, sum, at, tail
    apply   vfmadd231ps, \v, \sum, 0, row+\at, \tail
.endm

// d = beta (v - decay m)
.macro delta v, state, in, sum, at, tail
    vfnmadd231ps \v\in, \v\sum, \v\()12
    vmulps  \v\in, \v\in, \v\()14
.endm

.macro times_dt v, state, in, sum, at, tail
    vmulps  \v\in, \v\in, \v\()14
.endm

.macro fade v, state, in, sum, at, tail
    apply   vmulps, \v, \state, 12, row+\at, \tail
.endm

.macro write_in v, state, in, sum, at, tail
    vfmadd231ps \v\state, \v\in, \v\()13
    store   \v, \state, row+\at, \tail
.endm

.macro read_out v, state, in, sum, at, tail
    vfmadd231ps \v\sum, \v\state, \v\()13
.endm

.macro store_sum v, state, in, sum, at, tail
    store   \v, \sum, out+\at, \tail
.endm

// sums = the strip of the state times k.
.macro read_strip v, count, tail
    for_strip \v, \count, clear_sum
    mov     row, strip
    xor     index, index
    jmp     .Ltest\@
.Lrow\@:
    vbroadcastss \v\()0, dword ptr [writes + 4*index]
    for_strip \v, \count, read_key, \tail
    add     row, stride
    inc     index
.Ltest\@:
    cmp     index, n_rows
    jb      .Lrow\@
.endm

// state = decay * state + k * input; sums = the new state times q.
.macro step_strip v, count, tail
    for_strip \v, \count, clear_sum
    mov     row, strip
    xor     index, index
    jmp     .Ltest\@
.Lrow\@:
    for_strip \v, \count, fade, \tail
    vbroadcastss \v\()13, dword ptr [writes + 4*index]
    for_strip \v, \count, write_in, \tail
    vbroadcastss \v\()13, dword ptr [reads + 4*index]
    for_strip \v, \count, read_out
    add     row, stride
    inc     index
.Ltest\@:
    cmp     index, n_rows
    jb      .Lrow\@
    for_strip \v, \count, store_sum, \tail
    add     strip, 4 * \count * \v\()_lanes
    add     inputs, 4 * \count * \v\()_lanes
    add     out, 4 * \count * \v\()_lanes
.endm

.macro delta_columns v, count, tail
    read_strip \v, \count, \tail
    for_strip \v, \count, load_in, \tail
    for_strip \v, \count, delta
    step_strip \v, \count, \tail
.endm

.macro mamba_columns v, count, tail
    for_strip \v, \count, load_in, \tail
    for_strip \v, \count, times_dt
    step_strip \v, \count, \tail
.endm

.macro state name, v, columns
func \name
    push_saved rbx
    .ifc \columns, mamba_columns
    xchg    reads, inputs
    .endif
    mov     n_rows, [left + STATE_ROWS]
    mov     stride, [left + STATE_STRIDE]
    mov     left, [left + STATE_COLUMNS]
    shl     stride, 2
    vbroadcastss \v\()12, xmm0
    vbroadcastss \v\()14, xmm1
    for_columns \v, left, left_32, \columns
    pop_saved rbx
endfunc \name
.endm

#endif
