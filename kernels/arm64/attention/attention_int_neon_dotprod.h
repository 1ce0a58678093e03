// Sums of 32 products of int8 for 16 lanes and up to four rows: the core of score and accumulate
// over integers. A group has four numbers in each lane, the operand of one sdot: four dimensions
// of a key, or four positions of a value. Eight groups are multiplied by a block_q8 of each row.
//
// Sums start at the bits of a float, so that a subtraction turns them into floats. The last bit of
// this float weighs 1, or 1/16 with four bits, because their products are 16 times too large. A
// group of four bits takes 9 instructions for all rows, a group of eight bits 1, and both take 4
// more for each row.
#ifndef INGOT_KERNELS_ARM64_ATTENTION_INT_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_ATTENTION_INT_NEON_DOTPROD_H

#include "kernels/arm64/asm.h"

// v16-v31 sums of four rows; v9-v12 four groups of their blocks; v0-v7 a group of the lanes
#define upper_halves v8
#define magic v13
#define factor v14
#define first_factor v15
#define group_at x8
#define group_stride x9 /* distance from one group to the next, in bytes */
#define block0 x10      /* blocks of the rows */
#define block1 x11
#define block2 x12
#define block3 x13
#define groups_left x23 /* in fours */

.macro dot_row column, block, a, b, c, e
    sdot    \a\().4s, v4.16b, \block\().4b[\column]
    sdot    \b\().4s, v5.16b, \block\().4b[\column]
    sdot    \c\().4s, v6.16b, \block\().4b[\column]
    sdot    \e\().4s, v7.16b, \block\().4b[\column]
.endm

.macro load_group bits
.if \bits == 8
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [group_at], group_stride
.else
    ld1     {v0.16b, v1.16b}, [group_at], group_stride
    shl     v2.16b, v0.16b, #4
    and     v0.16b, v0.16b, upper_halves.16b
    shl     v3.16b, v1.16b, #4
    and     v1.16b, v1.16b, upper_halves.16b
    zip1    v4.8h, v2.8h, v0.8h
    zip2    v5.8h, v2.8h, v0.8h
    zip1    v6.8h, v3.8h, v1.8h
    zip2    v7.8h, v3.8h, v1.8h
.endif
.endm

.macro four_groups bits, rows
    ld1     {v9.16b}, [block0], #16
.if \rows > 1
    ld1     {v10.16b}, [block1], #16
.endif
.if \rows > 2
    ld1     {v11.16b}, [block2], #16
    ld1     {v12.16b}, [block3], #16
.endif
.irp column, 0, 1, 2, 3
    load_group \bits
    dot_row \column, v9, v16, v17, v18, v19
.if \rows > 1
    dot_row \column, v10, v20, v21, v22, v23
.endif
.if \rows > 2
    dot_row \column, v11, v24, v25, v26, v27
    dot_row \column, v12, v28, v29, v30, v31
.endif
.endr
.endm

.macro begin_sums a, b, c, e
    mov     \a\().16b, magic.16b
    mov     \b\().16b, magic.16b
    mov     \c\().16b, magic.16b
    mov     \e\().16b, magic.16b
.endm

// Compute the sums of 1, 2 or 4 rows; afterwards each row's block pointer points to the block's
// scale.
.macro sum_groups bits, rows
    begin_sums v16, v17, v18, v19
.if \rows > 1
    begin_sums v20, v21, v22, v23
.endif
.if \rows > 2
    begin_sums v24, v25, v26, v27
    begin_sums v28, v29, v30, v31
.endif
    mov     groups_left, #2
.Lgroups\@:
    four_groups \bits, \rows
    subs    groups_left, groups_left, #1
    b.ne    .Lgroups\@
.endm

.macro float_sums a, b, c, e
    fsub    \a\().4s, \a\().4s, magic.4s
    fsub    \b\().4s, \b\().4s, magic.4s
    fsub    \c\().4s, \c\().4s, magic.4s
    fsub    \e\().4s, \e\().4s, magic.4s
.endm

.macro lead_blocks rows, first, bytes
    mov     block0, \first
.if \rows > 1
    add     block1, block0, \bytes
.endif
.if \rows > 2
    add     block2, block1, \bytes
    add     block3, block2, \bytes
.endif
.endm

.macro begin_int bits, word
.if \bits == 8
    mov_word \word, MAGIC
.else
    mov_word \word, MAGIC_16
    movi    upper_halves.16b, #0xf0
.endif
    dup     magic.4s, \word
.endm

#endif
