// Kernels that break one rule of the ABI each and do nothing else; see broken.c.
#include "kernels/arm64/asm.h"

func broken_saved
    add     x27, x27, #1
    ret
endfunc broken_saved

func broken_saved_float
    fmov    d11, #1.0
    ret
endfunc broken_saved_float

func broken_stack
    sub     sp, sp, #16
    ret
endfunc broken_stack

func broken_control
    mov     x9, #1 << 22            // FPCR.RMode: towards plus infinity
    msr     fpcr, x9
    ret
endfunc broken_control

func broken_platform
    mov     x18, #0
    ret
endfunc broken_platform

func broken_frame
    str     xzr, [sp]               // the caller's
    ret
endfunc broken_frame

func broken_depth
    sub     x9, sp, #3, lsl #12
    sub     x9, x9, #1000
    str     xzr, [x9]
    ret
endfunc broken_depth

// Takes a register for zero that nobody cleared.
func broken_zero
    cbz     x2, 2f
1:
    ldr     s0, [x0]
    ldr     s1, [x1], #4
    fadd    s0, s0, s1
    fadd    s0, s0, s20
    subs    x2, x2, #1
    str     s0, [x0], #4
    b.ne    1b
2:
    ret
endfunc broken_zero

func broken_saved_sve, sve
    dup     z9.s, #0
    ret
endfunc broken_saved_sve

// Uses the last lane of a vector that nobody cleared.
func broken_zero_sve, sve
    ptrue   p0.s
    cbz     x2, 2f
1:
    ldr     s0, [x0]
    ldr     s1, [x1], #4
    fadd    s0, s0, s1
    lastb   s2, p0, z21.s
    fadd    s0, s0, s2
    subs    x2, x2, #1
    str     s0, [x0], #4
    b.ne    1b
2:
    ret
endfunc broken_zero_sve

// Works on a whole vector under a predicate that nobody set.
func broken_predicate, sve
    mov     x9, #0
1:
    cmp     x9, x2
    b.hs    2f
    ld1w    {z0.s}, p1/z, [x0, x9, lsl #2]
    ld1w    {z1.s}, p1/z, [x1, x9, lsl #2]
    fadd    z0.s, z0.s, z1.s
    st1w    {z0.s}, p1, [x0, x9, lsl #2]
    incw    x9
    b       1b
2:
    ret
endfunc broken_predicate
