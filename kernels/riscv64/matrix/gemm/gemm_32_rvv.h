/* Shared by the RVV gemms of Q8_0, Q4_0 and nibbles through a table: the loops over blocks, of 32
 * columns except in FIG4. Between blocks, y of a tile is in memory. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_32_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_32_RVV_H

#include "kernels/riscv64/matrix/gemm/gemm_rvv.h"

#define act_end s0
#define scratch s7     /* weights: [32][TILE] */

.macro multiply_32 eight, at_once
    .irp first, 0, 4, 8, 12, 16, 20, 24, 28
    four_columns \first, \eight, \at_once
    .endr
.endm

/* Load the scale of x of the first token (\at is 0) or of the second (\at is 4). */
.macro scale_32 at
    flw act_scale, Q8X4_SCALE + \at(act)
.endm

/* \eight = the size of two columns of the scratch, in bytes: eight registers, but at most 2 *
 * COLUMN_BYTES. */
.macro measure_columns eight
    csrr \eight, vlenb
    slli \eight, \eight, 3
    li temp, 2 * COLUMN_BYTES
    at_most \eight, temp
.endm

.macro next_32
    addi act_block, act_block, Q8X4_BYTES
.endm

/* Multiply all pairs of tokens; \eight and \at_once as in four_columns. */
.macro multiply_pairs element, multiply, load_scale, eight, at_once
.Lpair\@:
    mv column_at, scratch
    vsetvli zero, rows, \element, m4, ta, ma
    \multiply \eight, \at_once
    \load_scale 0
    finish_first
    addi tokens_left, tokens_left, -2
    bltz tokens_left, .Lnext_block     /* there is no second token */
    \load_scale 4
    finish_second
    add out, out, y_stride
    add act, act, step
    sub step, group_bytes, step
    bnez tokens_left, .Lpair\@
.endm

/* Body of a gemm; runs after load_shape and needs act_end. \element is the element type of a column of the scratch,
 * e8 or e16. The kernel defines the macros take_tile (takes the rows of the next tile and clears its y),
 * decode_tile (decodes weights and scales of the block at group_at), start_constants, finish_first and
 * finish_second (add the dots in dots_a and dots_b to y of their tokens, with act_scale; y of the first token is at
 * out, and finish_second advances out). \eight, if not blank, is the register with the size of two columns of the
 * scratch in bytes, which fill eight registers up to VLEN 256. */
.macro gemm_loops_32 block_bytes, element, multiply=multiply_32, load_scale=scale_32, next=next_32, eight
    start_constants
    beqz rows_left, .Ldone
.Ltile:
    take_tile
    mv group_at, weights
    mv act_block, act_start
    beq act_block, act_end, .Lnext_tile
.Lblock:
    decode_tile
    mv act, act_block
    mv out, dst
    mv tokens_left, n_tokens
    li step, 8
    blez tokens_left, .Lnext_block
    .ifnb \eight
    csrr temp, vlenb
    addi temp, temp, -32
    blez temp, .Lwhole
    .endif
    multiply_pairs \element, \multiply, \load_scale
    .ifnb \eight
    j .Lnext_block
.Lwhole:
    multiply_pairs \element, \multiply, \load_scale, \eight, 2
    .endif
.Lnext_block:
    \next
    addi group_at, group_at, \block_bytes
    bne act_block, act_end, .Lblock
.Lnext_tile:
    next_tile
.Ldone:
.endm

#endif
