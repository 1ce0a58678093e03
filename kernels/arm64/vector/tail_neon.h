// The tail of up to 15 elements of a kernel that takes sixteen at a time: it is copied to the stack
// and computed there, together with unused elements after it.
#ifndef INGOT_KERNELS_ARM64_TAIL_NEON_H
#define INGOT_KERNELS_ARM64_TAIL_NEON_H

#include "kernels/arm64/asm.h"

#define tail x4                 /* elements in the tail; 0 while at least sixteen remain */
#define tail_out x5             /* y of the tail */
#define tail_at x6
#define tail_left x7
#define tail_word w8

// Copy the tail at `source` to sp + offset; `source` is destroyed.
.macro load_tail source, offset
    add     tail_at, sp, #\offset
    mov     tail_left, tail
    copy_words tail_at, \source, tail_left, tail_word
.endm

// Copy the tail at sp to tail_out.
.macro store_tail
    mov     tail_at, sp
    copy_words tail_out, tail_at, tail, tail_word
.endm

#endif
