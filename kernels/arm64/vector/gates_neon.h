// The gates that end in x / (1 + e^-gate).
//
// A step takes sixteen elements and reads them before it writes y, so that y may be an input.
// A tail is copied to the stack and computed there. A kernel passes its step to for_gates; the step
// reads from pointers, advances them and leaves y in v0-v3.
#ifndef INGOT_KERNELS_ARM64_GATES_NEON_H
#define INGOT_KERNELS_ARM64_GATES_NEON_H

#include "kernels/arm64/vector/exp_neon.h"
#include "kernels/arm64/vector/tail_neon.h"

#define out x0
#define low_bound v30
#define high_bound v31

gates0 .req v8
gates1 .req v9
gates2 .req v10
gates3 .req v11
ups0 .req v16
ups1 .req v17
ups2 .req v18
ups3 .req v19

// For a gate above 40, 1 + e^-gate is 1, so the gate is clamped to [-89, 40], where 2^-64 e^-gate
// is a normal number.
.macro start_gates
    save_vectors
    sub     sp, sp, #128
    .cfi_adjust_cfa_offset 128
    exp_constants EXP_K_MINUS_64
    mov_word tail_word, F32_MINUS_89
    dup     low_bound.4s, tail_word
    mov_word tail_word, F32_40
    dup     high_bound.4s, tail_word
    mov     tail, #0
.endm

// v4-v7 = 1 + e^-x for x in v0-v3 within the bounds.
.macro gate_divisor
    exp_sixteen_gate
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [exp_ones]
    four_by fmla, exp_z, exp_x, exp_numbers.s[2]
.endm

// Run \step for `left` elements of one or two inputs.
.macro for_gates left, step, first, second
.Lsixteen\@:
    subs    \left, \left, #16
    b.lo    .Lragged\@
.Lstep\@:
    \step
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
    cbz     tail, .Lsixteen\@
    store_tail
    b       .Lend\@
.Lragged\@:
    adds    tail, \left, #16
    b.eq    .Lend\@
    load_tail \first, 0
    mov     \first, sp
.ifnb \second
    load_tail \second, 64
    add     \second, sp, #64
.endif
    mov     tail_out, out
    mov     out, sp
    b       .Lstep\@
.Lend\@:
    add     sp, sp, #128
    .cfi_adjust_cfa_offset -128
    restore_vectors
.endm

#endif
