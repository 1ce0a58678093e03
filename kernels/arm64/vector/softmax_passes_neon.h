// The passes of softmax; each pass is also a kernel by itself.
#ifndef INGOT_KERNELS_ARM64_SOFTMAX_PASSES_NEON_H
#define INGOT_KERNELS_ARM64_SOFTMAX_PASSES_NEON_H

#include "kernels/arm64/asm.h"
#include "kernels/arm64/vector/exp_neon.h"

// s0 = max of `left` >= 1 floats from cursor on; destroys both, v0-v7 and v16-v19. Comparisons skip
// NaNs, because fmaxnm would let a signalling NaN through.
.macro max_pass cursor, left
    mvni    v0.4s, #0x7f, msl #16   // 0xff800000: minus infinity
    mov     v1.16b, v0.16b
    mov     v2.16b, v0.16b
    mov     v3.16b, v0.16b
    subs    \left, \left, #16
    b.lo    .Lragged\@
.Lsixteen\@:
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [\cursor], #64
    subs    \left, \left, #16
    fcmgt   v16.4s, v4.4s, v0.4s
    fcmgt   v17.4s, v5.4s, v1.4s
    fcmgt   v18.4s, v6.4s, v2.4s
    fcmgt   v19.4s, v7.4s, v3.4s
    bit     v0.16b, v4.16b, v16.16b
    bit     v1.16b, v5.16b, v17.16b
    bit     v2.16b, v6.16b, v18.16b
    bit     v3.16b, v7.16b, v19.16b
    b.hs    .Lsixteen\@
.Lragged\@:
    fmax    v0.4s, v0.4s, v2.4s
    fmax    v1.4s, v1.4s, v3.4s
    fmax    v0.4s, v0.4s, v1.4s
    fmaxv   s0, v0.4s
    adds    \left, \left, #16
    b.eq    .Lend\@
.Lone\@:
    ldr     s1, [\cursor], #4
    sub     \left, \left, #1
    fcmp    s1, s0
    fcsel   s0, s1, s0, gt
    cbnz    \left, .Lone\@
.Lend\@:
.endm

#define tail_word w8
#define tail_at x15             /* in the stack */
#define tail_from x16
#define tail_end x17            /* of x */

// x = e^(x - max) for `left` floats from cursor on, by the macro `exp`; s8 = the sum.
// Requires max in all lanes of v30, and exp_constants. Destroys cursor, left, tail,
// x8, x15-x17, v0-v11, v16-v23; 64 bytes of stack. A tail is copied to the stack,
// filled with NaNs, and computed there: NaNs become 0 and do not change the sum.
.macro exp_sum_pass exp, cursor, left, tail
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    movi    v8.4s, #0
    movi    v9.4s, #0
    movi    v10.4s, #0
    movi    v11.4s, #0
    mov     \tail, #0
.Lsixteen\@:
    subs    \left, \left, #16
    b.lo    .Lragged\@
.Lstep\@:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [\cursor]
    four_by fsub, exp_x, exp_x, v30.4s
    \exp
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [\cursor], #64
    fadd    v8.4s, v8.4s, v0.4s
    fadd    v9.4s, v9.4s, v1.4s
    fadd    v10.4s, v10.4s, v2.4s
    fadd    v11.4s, v11.4s, v3.4s
    cbz     \tail, .Lsixteen\@
    mov     tail_at, sp
    sub     tail_from, tail_end, \tail, lsl #2
    copy_words tail_from, tail_at, \tail, tail_word
    b       .Lfold\@
.Lragged\@:
    adds    \tail, \left, #16
    b.eq    .Lfold\@
    movi    v0.16b, #0xff
    mov     v1.16b, v0.16b
    mov     v2.16b, v0.16b
    mov     v3.16b, v0.16b
    mov     tail_at, sp
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [tail_at]
    mov     tail_end, \cursor
    mov     tail_from, \tail
    copy_words tail_at, tail_end, tail_from, tail_word    // leaves tail_end at the end of x
    mov     \cursor, sp
    b       .Lstep\@
.Lfold\@:
    fold_lanes v8, v9, v10, v11
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
.endm

#endif
