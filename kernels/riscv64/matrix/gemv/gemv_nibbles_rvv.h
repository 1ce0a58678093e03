/* Shared by the RVV gemvs of Q4_0, Q4_1, Q5_0 and Q5_1, which differ in what a block has in addition to nibbles.
 * A kernel that includes this defines BLOCK_BYTES and QUANTS_AT for a group's block; HIGH_AT if there are fifth
 * bits; MINS_AT if there are minima, else BIAS_LOG2.
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 ahead. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft2, every
 * vector register; 624 bytes of stack.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows (low nibbles) and the 4 columns 16 further on (high nibbles).
 * The 4 activations of a chunk are one 32-bit word, broadcast over the 8 rows. The 8 broadcasts of a block
 * serve up to 8 groups (a tile of 64 rows), and y holds the sums between blocks. Nibbles stay unsigned and the
 * products of a lane stay in int16 for the whole block: 8 * 15 * 128 = 15360. The dots of a set of
 * groups are placed next to each other in 8 registers. Narrowing shifts fold their lanes, four to a
 * row, first in int16 (30720), then widening. The bias 8 of Q4_0's nibbles is subtracted as 8 * x.sum.
 *
 * Fifth bits are multiplied separately, as 16 or 0, and added to the same lanes: 8 * 31 * 128 = 31744, so the
 * first fold has to widen. A minimum is multiplied by x.sum * x.d after the scales.
 *
 * At VLEN 128 a group is multiplied 64 bytes at a time, two chunks at once. The group's dots go to
 * the stack, because x fills half of the registers; the groups of a tile are folded and added to y
 * four at a time. At 256 a set of four groups fills 8 registers, which are multiplied whole. Longer
 * vectors and the last groups take one chunk and one group at a time. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_NIBBLES_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_NIBBLES_RVV_H

#include "kernels/riscv64/matrix/gemv/gemv_nibbles_groups_rvv.h"

/* ---- the loops ---- */

/* Take tiles of up to 64 rows, in whole sets of \rows_of_set. */
.macro tiles vlen, words, rows_of_set
    li set_rows, \rows_of_set
.Ltile_\vlen:
    bltu rows_left, set_rows, .Lone_group
    li temp, TILE
    bleu temp, rows_left, .Lwhole_tile_\vlen
    mv temp, rows_left
.Lwhole_tile_\vlen:
    divu n_sets, temp, set_rows
    mv act, act_start
    mv tile_block, next_group
    mv out, dst
    mv sets_left, n_sets
    vsetvli zero, set_rows, e32, m4, ta, ma
    vmv.v.i v16, 0
.Lclear_\vlen:
    vse32.v v16, (out)
    addi out, out, 4 * \rows_of_set
    addi sets_left, sets_left, -1
    bnez sets_left, .Lclear_\vlen
    beq act, act_end, .Lnext_tile_\vlen
.Lblock_\vlen:
    take_act_\words
    mv group, tile_block
    mv out, dst
    mv sets_left, n_sets
    bnez ahead, .Lprefetch_\vlen
.Lset_\vlen:
    set_\vlen
    addi sets_left, sets_left, -1
    bnez sets_left, .Lset_\vlen
    addi act, act, Q8_BYTES
    addi tile_block, tile_block, BLOCK_BYTES
    bne act, act_end, .Lblock_\vlen
.Lnext_tile_\vlen:
    mul temp, n_sets, set_rows
    sub rows_left, rows_left, temp
    slli out, temp, 2
    add dst, dst, out
    srli temp, temp, 3
    mul temp, temp, row_bytes
    add next_group, next_group, temp
    j .Ltile_\vlen

.Lprefetch_\vlen:
    srli temp, set_rows, 3
    mul sets_left, n_sets, temp        /* groups now */
.Lprefetch_group_\vlen:
    prefetch_lines group, ahead, BLOCK_BYTES, temp
    add group, group, row_bytes
    addi sets_left, sets_left, -1
    bnez sets_left, .Lprefetch_group_\vlen
    mv group, tile_block
    mv sets_left, n_sets
    j .Lset_\vlen
.endm

/* Take tiles at VLEN 128: compute the dots of all groups of a tile, then y of up to
 * 32 rows at a time. The last tile and the last group have the remaining rows. */
.macro tiles_128
    slli set_bytes, row_bytes, 2
.Ltile_128:
    beqz rows_left, .Ldone
    li tile_rows, TILE
    bleu tile_rows, rows_left, .Lwhole_tile_128
    mv tile_rows, rows_left
.Lwhole_tile_128:
    addi tile_bytes, tile_rows, GROUP_ROWS - 1
    srli tile_bytes, tile_bytes, 3
    mul tile_bytes, tile_bytes, row_bytes
    mv act, act_start
    addi tile_block, next_group, QUANTS_AT
    mv out, dst
    mv tile_left, tile_rows
    vsetvli temp, zero, e32, m8, ta, ma
    vmv.v.i v16, 0
.Lclear_128:
    vsetvli temp, tile_left, e32, m8, ta, ma
    vse32.v v16, (out)
    addi out, out, 128
    sub tile_left, tile_left, temp
    bnez tile_left, .Lclear_128
    beq act, act_end, .Lnext_tile_128
.Lblock_128:
    take_act_m2
    mv group, tile_block
    add group_end, tile_block, tile_bytes
    bnez ahead, .Lprefetch_128
.Lgroups_128:
    addi spill_at, sp, DOTS_AT
.Lgroup_128:
    group_128
    bne group, group_end, .Lgroup_128
    addi spill_at, sp, DOTS_AT
    addi set_at, tile_block, -QUANTS_AT
    mv out, dst
    mv tile_left, tile_rows
    addi words_left, tile_rows, GROUP_ROWS - 1
    srli words_left, words_left, 3
    slli words_left, words_left, 1
.Lset_128:
    set_128
    bgtz tile_left, .Lset_128
    addi act, act, Q8_BYTES
    addi tile_block, tile_block, BLOCK_BYTES
    bne act, act_end, .Lblock_128
.Lnext_tile_128:
    sub rows_left, rows_left, tile_rows
    slli temp, tile_rows, 2
    add dst, dst, temp
    add next_group, next_group, tile_bytes
    j .Ltile_128

.Lprefetch_128:
    prefetch_lines group, ahead, BLOCK_BYTES, temp
    add group, group, row_bytes
    bne group, group_end, .Lprefetch_128
    mv group, tile_block
    j .Lgroups_128
.endm

/* Body of a gemv. */
.macro gemv_nibbles
    push_at SCALES_BYTES, FRAME_BYTES, s0, s1, s2, s3, s4, s5, s6, s7, s8
    measure_rows COLS_LOG2, Q8_BYTES, BLOCK_BYTES
    li sign_bits, F16_SIGN_MAGNITUDE
    li shift_up, 1 << 13
    csrr temp, vlenb
    addi temp, temp, -16
    beqz temp, .Ltiles_128
    addi temp, temp, -16
    bnez temp, .Lone_group
    find_scales 8
    tiles 256, m1, 32
.Ltiles_128:
    find_scales 8
    tiles_128

.Lone_group:
    beqz rows_left, .Ldone
    mv act, act_start
    mv group, next_group
    add next_group, next_group, row_bytes
    vsetivli zero, 8, e32, m2, ta, ma
    vmv.v.i sums, 0
    beq act, act_end, .Lstore_one
.Lblock_one:
    take_act_m2
    single_group
    beqz ahead, .Lno_prefetch
    prefetch_lines group, ahead, BLOCK_BYTES, temp
.Lno_prefetch:
    addi group, group, BLOCK_BYTES
    addi act, act, Q8_BYTES
    bne act, act_end, .Lblock_one
.Lstore_one:
    li temp, 8
    bgeu rows_left, temp, .Lstore_rows
    mv temp, rows_left
.Lstore_rows:
    vsetvli zero, temp, e32, m2, ta, ma
    vse32.v sums, (dst)
    addi dst, dst, 32
    sub rows_left, rows_left, temp
    j .Lone_group
.Ldone:
    pop_at SCALES_BYTES, FRAME_BYTES, s0, s1, s2, s3, s4, s5, s6, s7, s8
    ret
.endm

#endif
