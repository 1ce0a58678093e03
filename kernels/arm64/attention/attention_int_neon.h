// Works like attention_int_neon_dotprod.h, but without the dot product: sums of 32 products of int8,
// for 16 lanes and up to four rows (two if values have eight bits).
//
// With four bits, no product is larger than 8 * 127, so a 16-bit sum has room for 16 products; each
// lane has two such sums for a block. A group takes 7 instructions for all rows and 10 more for each
// row. With eight bits, the sum of two products is at most 2 * 127 * 127, so the products of two
// groups are added before widening: 2 instructions for all rows and 26 more for each row.
#ifndef INGOT_KERNELS_ARM64_ATTENTION_INT_NEON_H
#define INGOT_KERNELS_ARM64_ATTENTION_INT_NEON_H

#include "kernels/arm64/asm.h"

// v16-v31 sums of the rows; v9-v12 four groups of their blocks; v0-v7, v8, v13 a group and products
#define factor v14
#define first_factor v15
#define group_at x8
#define group_stride x9 /* distance from one group to the next, in bytes */
#define block0 x10      /* blocks of the rows */
#define block1 x11
#define block2 x12
#define block3 x13
#define groups_left x23 /* in fours */

// Multiply the number pairs of the lanes, in v2, v3 and v0, v1, by pairs `low` and `high` of a
// block, and add the products to the sums.
.macro row_q4 low, high, block, a, b, c, e
    dup     v4.8h, \block\().h[\low]
    dup     v5.8h, \block\().h[\high]
    smlal   \a\().8h, v2.8b, v4.8b
    smlal2  \b\().8h, v2.16b, v4.16b
    smlal   \c\().8h, v3.8b, v4.8b
    smlal2  \e\().8h, v3.16b, v4.16b
    smlal   \a\().8h, v0.8b, v5.8b
    smlal2  \b\().8h, v0.16b, v5.16b
    smlal   \c\().8h, v1.8b, v5.8b
    smlal2  \e\().8h, v1.16b, v5.16b
.endm

.macro four_groups_q4 rows
.irp pair, 0, 2, 4, 6
    ld1     {v0.16b, v1.16b}, [group_at], group_stride
    shl     v2.16b, v0.16b, #4
    shl     v3.16b, v1.16b, #4
    sshr    v0.16b, v0.16b, #4
    sshr    v1.16b, v1.16b, #4
    sshr    v2.16b, v2.16b, #4
    sshr    v3.16b, v3.16b, #4
    row_q4  \pair, \pair + 1, v9, v16, v17, v18, v19
.if \rows > 1
    row_q4  \pair, \pair + 1, v10, v20, v21, v22, v23
.endif
.if \rows > 2
    row_q4  \pair, \pair + 1, v11, v24, v25, v26, v27
    row_q4  \pair, \pair + 1, v12, v28, v29, v30, v31
.endif
.endr
.endm

// Multiply four lanes of two groups.
.macro lanes_q8 first, second, low, high
    smull   v8.8h, \first\().8b, v11.8b
    smull2  v13.8h, \first\().16b, v11.16b
    smlal   v8.8h, \second\().8b, v12.8b
    smlal2  v13.8h, \second\().16b, v12.16b
    sadalp  \low\().4s, v8.8h
    sadalp  \high\().4s, v13.8h
.endm

.macro row_q8 block, group, a, b, c, e, f, g, h, i
    dup     v11.4s, \block\().s[\group]
    dup     v12.4s, \block\().s[\group + 1]
    lanes_q8 v0, v4, \a, \b
    lanes_q8 v1, v5, \c, \e
    lanes_q8 v2, v6, \f, \g
    lanes_q8 v3, v7, \h, \i
.endm

.macro four_groups_q8 rows
.irp group, 0, 2
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [group_at], group_stride
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [group_at], group_stride
    row_q8  v9, \group, v16, v17, v18, v19, v20, v21, v22, v23
.if \rows > 1
    row_q8  v10, \group, v24, v25, v26, v27, v28, v29, v30, v31
.endif
.endr
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
    four_groups_q\bits \rows
.endm

.macro clear_sums a, b, c, e
    movi    \a\().4s, #0
    movi    \b\().4s, #0
    movi    \c\().4s, #0
    movi    \e\().4s, #0
.endm

.macro add_pairs a, b, c, e, from0, from1, from2, from3, from4, from5, from6, from7
    addp    \a\().4s, \from0\().4s, \from1\().4s
    addp    \b\().4s, \from2\().4s, \from3\().4s
    addp    \c\().4s, \from4\().4s, \from5\().4s
    addp    \e\().4s, \from6\().4s, \from7\().4s
.endm

.macro widen_sums a, b, c, e
    saddlp  \a\().4s, \a\().8h
    saddlp  \b\().4s, \b\().8h
    saddlp  \c\().4s, \c\().8h
    saddlp  \e\().4s, \e\().8h
.endm

// Compute the sums of 1, 2 or 4 rows, in four registers each; afterwards each row's block pointer
// points to the block's scale.
.macro sum_groups bits, rows
    clear_sums v16, v17, v18, v19
.if \rows > 1 || \bits == 8
    clear_sums v20, v21, v22, v23
.endif
.if \rows > 2 || \rows * \bits == 16
    clear_sums v24, v25, v26, v27
    clear_sums v28, v29, v30, v31
.endif
    mov     groups_left, #2
.Lgroups\@:
    four_groups \bits, \rows
    subs    groups_left, groups_left, #1
    b.ne    .Lgroups\@
.if \bits == 8
    add_pairs v16, v17, v18, v19, v16, v17, v18, v19, v20, v21, v22, v23
.if \rows > 1
    add_pairs v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v30, v31
.endif
.else
    widen_sums v16, v17, v18, v19
.if \rows > 1
    widen_sums v20, v21, v22, v23
.endif
.if \rows > 2
    widen_sums v24, v25, v26, v27
    widen_sums v28, v29, v30, v31
.endif
.endif
.endm

.macro float_sums a, b, c, e
    scvtf   \a\().4s, \a\().4s
    scvtf   \b\().4s, \b\().4s
    scvtf   \c\().4s, \c\().4s
    scvtf   \e\().4s, \e\().4s
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
.endm

#endif
