/* Shared by the RVV gemvs of the K formats that take tiles. At VLEN 256 a tile has 8
 * groups; its integer sums over a block are on the stack from sp on, int32
 * [n_groups][16], two sub-blocks by 8 rows. A kernel that includes this defines all that gemv_rvv.h
 * requires; the names dst and rows_left; for tiles n_groups, tile_block, groups_left
 * and isum_at; and the macro tile_block_256, which computes one block of a tile. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_K_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_K_RVV_H

#include "kernels/riscv64/matrix/gemv/gemv_rvv.h"

#define TILE_GROUPS 8
#define ISUM_BYTES (64 * TILE_GROUPS)

.macro enter_frame
    push_at ISUM_BYTES, ISUM_BYTES + 64, s0, s1, s2, s3, s4, s5, s6, s7
.endm

.macro leave_frame
    pop_at ISUM_BYTES, ISUM_BYTES + 64, s0, s1, s2, s3, s4, s5, s6, s7
.endm

/* Clear the integer sums of groups_left groups from isum_at on. */
.macro clear_isums
    vsetivli zero, 16, e32, m2, ta, ma
    vmv.v.i v0, 0
.Lgroup\@:
    vse32.v v0, (isum_at)
    addi isum_at, isum_at, 64
    addi groups_left, groups_left, -1
    bnez groups_left, .Lgroup\@
.endm

/* Take tiles of 8 groups (the last tile may have fewer) while 8 rows are left;
 * then 1 to 7 remaining rows, from \group on. \at is a free register. */
.macro tiles_256 group, at
.Ltile:
    srli n_groups, rows_left, 3
    beqz n_groups, .Lrest
    li temp, TILE_GROUPS
    bleu n_groups, temp, .Lsome_groups
    mv n_groups, temp
.Lsome_groups:
    mv act, act_start
    mv tile_block, \group
    mv groups_left, n_groups
    mv \at, dst
    vsetivli zero, 8, e32, m1, ta, ma
    vmv.v.i v0, 0
.Lclear:
    vse32.v v0, (\at)
    addi \at, \at, 32
    addi groups_left, groups_left, -1
    bnez groups_left, .Lclear
    beq act, act_end, .Lnext_tile
.Ltile_block:
    tile_block_256
    bne act, act_end, .Ltile_block
.Lnext_tile:
    mul temp, n_groups, row_bytes
    add \group, \group, temp
    slli temp, n_groups, 3
    sub rows_left, rows_left, temp
    slli temp, temp, 2
    add dst, dst, temp
    j .Ltile
.Lrest:
.endm

#endif
