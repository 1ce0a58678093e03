// Loops of kernels that apply a few operations to each element independently.
#ifndef INGOT_KERNELS_ARM64_ELEMENTWISE_NEON_H
#define INGOT_KERNELS_ARM64_ELEMENTWISE_NEON_H

#include "kernels/arm64/asm.h"

// Do thirty-two elements per step, then sixteen, then single ones, with the macros \sixteen and
// \one, which advance the pointers. Destroys left.
.macro for_elements left, sixteen, one
    subs    \left, \left, #32
    b.lo    .Lsixteen\@
.Lstep\@:
    subs    \left, \left, #32
    \sixteen
    \sixteen
    b.hs    .Lstep\@
.Lsixteen\@:
    tbz     \left, #4, .Lragged\@
    \sixteen
.Lragged\@:
    ands    \left, \left, #15
    b.eq    .Ldone\@
.Lone\@:
    subs    \left, \left, #1
    \one
    b.ne    .Lone\@
.Ldone\@:
.endm

// Do one operation on four registers: on d, a, b; or on d, a and one register.
.macro each op, d0, d1, d2, d3, a0, a1, a2, a3, b0, b1, b2, b3
    \op     v\d0\().4s, v\a0\().4s, v\b0\().4s
    \op     v\d1\().4s, v\a1\().4s, v\b1\().4s
    \op     v\d2\().4s, v\a2\().4s, v\b2\().4s
    \op     v\d3\().4s, v\a3\().4s, v\b3\().4s
.endm

.macro each_by op, d0, d1, d2, d3, a0, a1, a2, a3, by
    \op     v\d0\().4s, v\a0\().4s, \by
    \op     v\d1\().4s, v\a1\().4s, \by
    \op     v\d2\().4s, v\a2\().4s, \by
    \op     v\d3\().4s, v\a3\().4s, \by
.endm

#endif
