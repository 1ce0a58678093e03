/* Shared by the RVV gemms of Q8_0, Q4_0 and nibbles through a table: the loops over blocks, of 32 columns
 * but in FIG4. y of a tile waits
 * in memory from block to block. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_32_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_32_RVV_H

#include "kernels/riscv64/gemm_rvv.h"

#define act_end s0
#define scratch s7     /* weights: [32][TILE] */

.macro multiply_32
    .irp first, 0, 4, 8, 12, 16, 20, 24, 28
    four_columns \first
    .endr
.endm

/* x's scale of the first token, or with 4 of the second. */
.macro scale_32 at
    flw act_scale, Q8X4_SCALE + \at(act)
.endm

.macro next_32
    addi act_block, act_block, Q8X4_BYTES
.endm

/* Body of a gemm after load_shape, with act_end. \element is what a column of the scratch has, e8 or e16. The
 * kernel defines the macros take_tile (rows of the next tile, its y = 0), decode_tile (weights and
 * scales of the block at group_at), start_constants, finish_first and finish_second (dots_a and
 * dots_b into y of their tokens, with act_scale; y of the first is at out, the second moves out
 * on). */
.macro gemm_loops_32 block_bytes, element, multiply=multiply_32, load_scale=scale_32, next=next_32
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
.Lpair:
    mv column_at, scratch
    vsetvli zero, rows, \element, m4, ta, ma
    \multiply
    \load_scale 0
    finish_first
    addi tokens_left, tokens_left, -2
    bltz tokens_left, .Lnext_block     /* there is no second token */
    \load_scale 4
    finish_second
    add out, out, y_stride
    add act, act, step
    sub step, group_bytes, step
    bnez tokens_left, .Lpair
.Lnext_block:
    \next
    addi group_at, group_at, \block_bytes
    bne act_block, act_end, .Lblock
.Lnext_tile:
    next_tile
.Ldone:
.endm

#endif
