// Macros that the arm64 kernels share: function headers, and steps that several kernels have in
// common.
//
// Vectors are loaded and stored with ld1 and st1 in the element size of the data, never with ldr q.
// With alignment checking on, ld1 and st1 need only the alignment of one element, and the contracts
// promise no more.
#ifndef INGOT_KERNELS_ARM64_ASM_H
#define INGOT_KERNELS_ARM64_ASM_H

#include "kernels/blocks.h"

// func and endfunc enclose a global function in its own section, with CFI. The baseline is
// ARMv8.0-A; a kernel names the extension that it needs, which is enabled up to endfunc.
// place=.early puts the function in the gap before the image's exception vectors
// (linker/image.ld.S).
.macro func name, extension, place
    .section .text\place\().\name, "ax", %progbits
    .balign 16
    .globl  \name
    .type   \name, %function
.ifb \extension
    .arch   armv8-a
.else
    .arch   armv8.2-a                   // the base that assemblers need for dotprod, i8mm and SVE
    .arch_extension \extension
.endif
\name:
    .cfi_startproc
.endm

.macro endfunc name
    .cfi_endproc
    .size   \name, . - \name
    .arch   armv8-a
.endm

// Save two of the caller's registers at `offset` from sp, and restore them.
.macro save_pair first, second, offset
    stp     \first, \second, [sp, #\offset]
    .cfi_rel_offset \first, \offset
    .cfi_rel_offset \second, \offset + 8
.endm

.macro restore_pair first, second, offset
    ldp     \first, \second, [sp, #\offset]
    .cfi_restore \first
    .cfi_restore \second
.endm

// Like save_pair, for the first pair; these also allocate and free the frame of `bytes` bytes.
.macro push_pair first, second, bytes
    stp     \first, \second, [sp, #-(\bytes)]!
    .cfi_adjust_cfa_offset \bytes
    .cfi_rel_offset \first, 0
    .cfi_rel_offset \second, 8
.endm

.macro pop_pair first, second, bytes
    ldp     \first, \second, [sp], #\bytes
    .cfi_adjust_cfa_offset -(\bytes)
    .cfi_restore \first
    .cfi_restore \second
.endm

// Allocate and free `bytes` of stack. Every page is touched, so that no guard page is skipped.
.macro take_stack bytes
.rept (\bytes) / 4096
    sub     sp, sp, #4096
    .cfi_adjust_cfa_offset 4096
    str     xzr, [sp]
.endr
    sub     sp, sp, #(\bytes) % 4096
    .cfi_adjust_cfa_offset (\bytes) % 4096
.endm

.macro give_stack bytes
    add     sp, sp, #(\bytes) % 4096
    .cfi_adjust_cfa_offset -((\bytes) % 4096)
.rept (\bytes) / 4096
    add     sp, sp, #4096
    .cfi_adjust_cfa_offset -4096
.endr
.endm

// Save the lower halves of v8-v15, which belong to the caller.
.macro save_vectors
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    save_pair d8, d9, 0
    save_pair d10, d11, 16
    save_pair d12, d13, 32
    save_pair d14, d15, 48
.endm

.macro restore_vectors
    restore_pair d8, d9, 0
    restore_pair d10, d11, 16
    restore_pair d12, d13, 32
    restore_pair d14, d15, 48
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
.endm

// Floats, written as their bits.
#define F32_127 0x42fe0000
#define F32_2M100 0x0d800000    /* 2^-100: a block whose largest value is smaller is quantized to zeros */
#define F32_89 0x42b20000
#define F32_MINUS_89 0xc2b20000
#define F32_40 0x42200000

// A fast conversion of integer sums below 2^22 to floats. A sum starts, as an integer, at the bits
// of the float 3 * 2^22, whose last bit weighs 1. The sum ends as the bits of the float 3 * 2^22 +
// sum, from which one subtraction makes the exact sum as a float. A plain conversion takes two
// operations.
#define MAGIC 0x4b400000
#define MAGIC_16 0x49400000     /* 3 * 2^18, for sums that are 16 times the result */

// reg = a 32-bit constant
.macro mov_word reg, value
    movz    \reg, #(\value) & 0xffff
    movk    \reg, #(\value) >> 16, lsl #16
.endm

// Store the first `count` (1 to 7) of the eight floats low, high. Destroys low and out.
.macro store_ragged low, high, out, count
    tbz     \count, #2, .Ltwo\@
    st1     {\low\().4s}, [\out], #16
    mov     \low\().16b, \high\().16b
.Ltwo\@:
    tbz     \count, #1, .Lone\@
    st1     {\low\().2s}, [\out], #8
    ext     \low\().16b, \low\().16b, \low\().16b, #8
.Lone\@:
    tbz     \count, #0, .Lstored\@
    st1     {\low\().s}[0], [\out]
.Lstored\@:
.endm

// Copy `count` >= 1 words; from, to, count and the word register are destroyed.
.macro copy_words to, from, count, word
.Lword\@:
    ldr     \word, [\from], #4
    subs    \count, \count, #1
    str     \word, [\to], #4
    b.ne    .Lword\@
.endm

// Fold 16 lanes in four registers to sum.s[0]: each step adds the upper half to the lower. Destroys
// a to d.
.macro fold_lanes a, b, c, d
    fadd    \a\().4s, \a\().4s, \c\().4s
    fadd    \b\().4s, \b\().4s, \d\().4s
    fadd    \a\().4s, \a\().4s, \b\().4s
    ext     \b\().16b, \a\().16b, \a\().16b, #8
    fadd    \a\().2s, \a\().2s, \b\().2s
    faddp   \a\().2s, \a\().2s, \a\().2s
.endm

// Fold 16 lanes for each of four rows, v16-v31, to the four sums in v16.4s. Destroys v16-v31.
.macro fold_four_rows
    fadd    v16.4s, v16.4s, v18.4s
    fadd    v17.4s, v17.4s, v19.4s
    fadd    v20.4s, v20.4s, v22.4s
    fadd    v21.4s, v21.4s, v23.4s
    fadd    v24.4s, v24.4s, v26.4s
    fadd    v25.4s, v25.4s, v27.4s
    fadd    v28.4s, v28.4s, v30.4s
    fadd    v29.4s, v29.4s, v31.4s
    fadd    v16.4s, v16.4s, v17.4s
    fadd    v20.4s, v20.4s, v21.4s
    fadd    v24.4s, v24.4s, v25.4s
    fadd    v28.4s, v28.4s, v29.4s
    zip1    v17.2d, v16.2d, v20.2d  // lanes 0, 1 of rows 0 and 1
    zip2    v18.2d, v16.2d, v20.2d  // lanes 2, 3
    zip1    v25.2d, v24.2d, v28.2d
    zip2    v26.2d, v24.2d, v28.2d
    fadd    v17.4s, v17.4s, v18.4s
    fadd    v25.4s, v25.4s, v26.4s
    faddp   v16.4s, v17.4s, v25.4s
.endm

#ifdef __linux__
    .section .note.GNU-stack, "", %progbits
#endif

#endif
