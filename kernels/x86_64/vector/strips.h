// Loops over columns, in strips of up to four vectors; a strip's parts of successive rows are
// processed one after the other. The code is the same for AVX2 and AVX-512, as in vectors.h.
#ifndef INGOT_KERNELS_X86_64_STRIPS_H
#define INGOT_KERNELS_X86_64_STRIPS_H

#include "kernels/x86_64/vector/vectors.h"

// Run `body v, n, n + 4, n + 8, byte of the row, tail` for each vector n of a strip.
.macro for_strip v, count, body, tail
    .irp    n, 0, 1, 2, 3
    .if     \n < \count
    \body   \v, \n, %(\n + 4), %(\n + 8), %(4 * \n * \v\()_lanes), \tail
    .endif
    .endr
.endm

// Run `columns v, count of vectors, tail` for `left` columns; `columns` advances the pointers.
// Destroys left, rax and the mask.
.macro for_columns v, left, left_32, columns
    sub     \left, 4 * \v\()_lanes
    jb      .Lsingle\@
.Lfour\@:
    \columns \v, 4
    sub     \left, 4 * \v\()_lanes
    jae     .Lfour\@
.Lsingle\@:
    add     \left, 3 * \v\()_lanes
    js      .Ltail\@
.Lone\@:
    \columns \v, 1
    sub     \left, \v\()_lanes
    jns     .Lone\@
.Ltail\@:
    add     \left, \v\()_lanes
    jz      .Ldone\@
    .if \v\()_lanes == 16
    tail_mask \left_32
    .else
    lane_mask 15, \left
    .endif
    \columns \v, 1, tail
.Ldone\@:
.endm

#endif
