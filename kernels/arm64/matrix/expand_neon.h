// y += B u in groups of 8 rows, stored as [rank][8]: a register holds 4 rows of one column of B.
//
// void (float *y, const void *b, const float *u, size_t rows, size_t rank)
//
// x0 y; x1 b, of the first of two groups; x2 u; x3 rows left; x4 rank;
// x5 b of the second group; x6 next numbers of u; x7 columns left, scratch; x8 bytes of a group;
// v0 four of u; v4-v7, v20-v23 B of both groups; v24-v31 the same as f32; v16-v19 y.
// Clobbers x0, x1, x3, x5-x8, v0, v4-v7, v16-v31.
//
// A step takes four columns of two groups, so that four fma are in progress at the same
// time. In the last group all 8 rows are computed, but only existing ones are stored.
//
// A kernel that includes this sets COLUMN_SHIFT, log2 of the bytes of 8 rows, and defines these macros:
//     add_four groups     v16-v19 (of one group: v16, v17) += four columns by v0; moves b on.
//     add_one groups      the same for one column by v0.s[0].
#ifndef INGOT_KERNELS_ARM64_EXPAND_NEON_H
#define INGOT_KERNELS_ARM64_EXPAND_NEON_H

#include "kernels/arm64/asm.h"

#define expand_out x0
#define expand_first x1
#define expand_vector x2
#define expand_rows x3
#define expand_rank x4
#define expand_second x5
#define expand_vector_at x6
#define expand_left x7
#define expand_group_bytes x8

// Multiply all columns of one group or two; expand_first moves to the group after them.
.macro add_columns groups
    mov     expand_vector_at, expand_vector
    subs    expand_left, expand_rank, #4
.if \groups == 2
    add     expand_second, expand_first, expand_group_bytes
.endif
    b.lo    .Lones\@
.Lfour\@:
    ld1     {v0.4s}, [expand_vector_at], #16
    subs    expand_left, expand_left, #4
    add_four \groups
    b.hs    .Lfour\@
.Lones\@:
    ands    expand_left, expand_left, #3        // rank mod 4
    b.eq    .Ldone\@
.Lone\@:
    ldr     s0, [expand_vector_at], #4
    subs    expand_left, expand_left, #1
    add_one \groups
    b.ne    .Lone\@
.Ldone\@:
.if \groups == 2
    mov     expand_first, expand_second
.endif
.endm

// v16, v17 = the first expand_rows (1 to 7) floats of y, zeros above. Destroys v20.
.macro load_ragged
    movi    v16.4s, #0
    movi    v17.4s, #0
    tbz     expand_rows, #0, .Ltwo\@
    and     expand_left, expand_rows, #6
    add     expand_left, expand_out, expand_left, lsl #2
    ld1     {v16.s}[0], [expand_left]
.Ltwo\@:
    tbz     expand_rows, #1, .Lfour\@
    and     expand_left, expand_rows, #4
    add     expand_left, expand_out, expand_left, lsl #2
    ld1     {v20.2s}, [expand_left]
    zip1    v16.2d, v20.2d, v16.2d
.Lfour\@:
    tbz     expand_rows, #2, .Lloaded\@
    mov     v17.16b, v16.16b
    ld1     {v16.4s}, [expand_out]
.Lloaded\@:
.endm

.macro expand_floats
    lsl     expand_group_bytes, expand_rank, #COLUMN_SHIFT
    subs    expand_rows, expand_rows, #16
    b.lo    .Lgroup\@
.Ltwo_groups\@:
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [expand_out]
    add_columns 2
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [expand_out], #64
    subs    expand_rows, expand_rows, #16
    b.hs    .Ltwo_groups\@
.Lgroup\@:
    ands    expand_rows, expand_rows, #15       // rows mod 16: 0 to 15 left
    b.eq    .Ldone\@
    tbz     expand_rows, #3, .Lragged\@
    ld1     {v16.4s, v17.4s}, [expand_out]
    add_columns 1
    st1     {v16.4s, v17.4s}, [expand_out], #32
    ands    expand_rows, expand_rows, #7
    b.eq    .Ldone\@
.Lragged\@:
    load_ragged
    add_columns 1
    store_ragged v16, v17, expand_out, expand_rows
.Ldone\@:
    ret
.endm

#endif
