/* Sums of 32 products of int8 by numbers of four bits, for up to 64 lanes and a few rows: the core
 * of score and accumulate over integers.
 *
 * A segment load splits a group, four numbers of each lane, into two registers of lanes. The lower
 * halves are the first two numbers, and the upper halves, which a second load fills, are the other
 * two. Sums of 16 bits hold 32 products, because no product is larger than 8 * 127. Registers of 128
 * bits need m4 for 64 lanes and take two rows at a time; longer ones need m2 and take four. A group
 * takes 9 instructions for all rows and 8 more for each row. */
#ifndef INGOT_KERNELS_RISCV64_ATTENTION_INT_RVV_H
#define INGOT_KERNELS_RISCV64_ATTENTION_INT_RVV_H

#include "kernels/riscv64/asm.h"

#define lanes a7
#define group_at t0
#define group_stride t1
#define temp t2
#define element0 t3
#define element1 t4
#define block0 t5       /* blocks of the rows, pointing to the next q */
#define block1 t6
#define block2 s2
#define block3 s3
#define groups_left s4
#define piece_bytes s5  /* floats of m8 */
#define lanes_left s6
#define piece_at s7
#define first_lanes s11 /* of the first piece: at most VLMAX, above which vsetvli may take fewer */

#define field0 v0
#define floats v0       /* used as m8 after the sums are done */
#define others v8
#define halves v12      /* the upper half of the registers of `others` */

.macro row_number block, index, field, acc, element
    lb \element, \index(\block)
    vwmacc.vx \acc, \element, \field
.endm

/* \wide: for registers of 128 bits; the second field is v4, and the sums are v16 and v24. */
.macro number wide, count, index, field
    .if \wide
    row_number block0, \index, \field, v16, element0
    .if \count > 1
    row_number block1, \index, \field, v24, element1
    .endif
    .else
    row_number block0, \index, \field, v16, element0
    .if \count > 1
    row_number block1, \index, \field, v20, element1
    .endif
    .if \count > 2
    row_number block2, \index, \field, v24, element0
    row_number block3, \index, \field, v28, element1
    .endif
    .endif
.endm

.macro one_group wide, count, index, field1
    vlseg2e8.v field0, (group_at)
    vsll.vi field0, field0, 4
    vsll.vi \field1, \field1, 4
    vsra.vi field0, field0, 4
    vsra.vi \field1, \field1, 4
    number \wide, \count, \index, field0
    number \wide, \count, \index + 1, \field1
    vlseg2e8.v field0, (group_at)
    add group_at, group_at, group_stride
    vsra.vi field0, field0, 4
    vsra.vi \field1, \field1, 4
    number \wide, \count, \index + 2, field0
    number \wide, \count, \index + 3, \field1
.endm

.macro next_blocks count, bytes
    addi block0, block0, \bytes
    .if \count > 1
    addi block1, block1, \bytes
    .endif
    .if \count > 2
    addi block2, block2, \bytes
    addi block3, block3, \bytes
    .endif
.endm

.macro lead_blocks count, first, bytes
    mv block0, \first
    .if \count > 1
    add block1, block0, \bytes
    .endif
    .if \count > 2
    add block2, block1, \bytes
    add block3, block2, \bytes
    .endif
.endm

/* Compute the sums of \count rows: 1, or 2 with \wide, or 4 without. Afterwards the rows' block
 * pointers point to the scale. */
.macro sum_groups wide, count
    .if \wide
    vsetvli zero, lanes, e16, m8, ta, ma
    vmv.v.i v16, 0
    vmv.v.i v24, 0
    vsetvli zero, lanes, e8, m4, ta, ma
    .else
    vsetvli zero, lanes, e16, m4, ta, ma
    .irp sum, v16, v20, v24, v28
    vmv.v.i \sum, 0
    .endr
    vsetvli zero, lanes, e8, m2, ta, ma
    .endif
    li groups_left, 2
.Lgroups\@:
    .irp index, 0, 4, 8, 12
    .if \wide
    one_group 1, \count, \index, v4
    .else
    one_group 0, \count, \index, v2
    .endif
    .endr
    next_blocks \count, 16
    addi groups_left, groups_left, -1
    bnez groups_left, .Lgroups\@
.endm

/* Call \macro for each piece (m4, 16 bits) of a row's sums, with the piece, the number of lanes to
 * take, and \more. */
.macro for_pieces wide, row, macro, more
    .if \wide
    .if \row == 0
    \macro v16, first_lanes, \more
    \macro v20, lanes_left, \more
    .else
    \macro v24, first_lanes, \more
    \macro v28, lanes_left, \more
    .endif
    .elseif \row == 0
    \macro v16, lanes, \more
    .elseif \row == 1
    \macro v20, lanes, \more
    .elseif \row == 2
    \macro v24, lanes, \more
    .else
    \macro v28, lanes, \more
    .endif
.endm

/* Set piece_bytes and first_lanes from lanes. */
.macro begin_pieces
    vsetvli temp, zero, e32, m8, ta, ma
    slli piece_bytes, temp, 2
    mv first_lanes, lanes
    bleu lanes, temp, .Lbegun\@
    mv first_lanes, temp
.Lbegun\@:
.endm

/* Call \macro count, \wide for all rows; the macro lowers \left. */
.macro for_rows wide, macro, left, done
.Lmany\@:
    .if \wide
    li temp, 2
    .else
    li temp, 4
    .endif
    bltu \left, temp, .Lone\@
    .if \wide
    \macro 1, 2
    .else
    \macro 0, 4
    .endif
    j .Lmany\@
.Lone\@:
    beqz \left, \done
    \macro \wide, 1
    j .Lone\@
.endm

#endif
