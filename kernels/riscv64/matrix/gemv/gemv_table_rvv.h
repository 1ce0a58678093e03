/* Shared by the RVV gemvs whose nibbles go through a table.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows (low nibbles) and the 4 columns 16 further on (high
 * nibbles); the activations of 4 columns are one word, broadcast over the rows. The table stays in
 * a register for the whole call, and vrgather turns nibbles into int8, one register at a time. On
 * many cores a vrgather over a group of n registers takes n * n cycles. No value
 * is -128, so the products of a byte's two nibbles can be added in int16; four
 * such sums go to int32 lanes, which fold by narrowing shifts, four to a row.
 *
 * At VLEN 128 and 256, x of a block is spread on the stack for a tile of up to 128 rows,
 * y holds the sums between blocks, and a run of 32 columns takes two steps (one at VLEN
 * 256) of four registers. Longer vectors take a chunk and a group of rows at a time. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_TABLE_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_TABLE_RVV_H

#define dst a0
#define group a1       /* the argument w, read from end to end; group_at for tiles */
#define act_start a2
#define rows_left a3
#define cols a4
#define row_bytes a4   /* bytes of one group of 8 rows; measure_rows sets it */
#define ahead a5       /* first the argument table */
#define act_end a6
#define act a7
#define bytes t0       /* 32 */
#define word_bits t1   /* 32, too large for a shift by an immediate */
#define sign_bits t2   /* F16_SIGN_MAGNITUDE */
#define shift_up t3    /* 2^13 */
#define temp t4
#define temp_1 t5
#define group_at t6
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define x_low v0       /* m2 */
#define x_high v2
#define table v4       /* m2; the table is the first 16 bytes */
#define packed v6      /* m2; then high nibbles */
#define nibbles v8     /* m2 */
#define values v10     /* m2 */
#define wide v12       /* m4, int16 */
#define folded v12     /* m4, int32, used after products */
#define sums v16       /* m2, y of 8 rows */
#define scales v18     /* m2, of the rows */
#define scaled v20     /* m2 */
#define scales_f16 v22 /* m1 */
#define other_half v0  /* m4, used after x */
#define dots v24       /* m8, int32 */

/* Tiles. */
#define tile_rows s0
#define tile_block s1  /* points to the block of the tile's first group */
#define out s2
#define left s3        /* rows of the tile */
#define rows_now s4    /* of the group */
#define x_at s5
#define quants s6
#define quants_end s7
#define next_group s9
#define TILE 128       /* rows */
#define products v0    /* m8, int16 */
#define products_4 v4
#define tile_dots v8   /* m8, int32 */
#define tile_dots_4 v12
#define tile_scales v28 /* m2 */
#define tile_table v30

#include "kernels/riscv64/matrix/gemv/gemv_rvv.h"

/* Multiply words \word and \word + 4 of x by the chunk at \offset from group. */
.macro chunk word, offset, first
    vsetivli zero, 8, e32, m2, ta, ma
    broadcast x_low, \word
    broadcast x_high, \word + 4
    vsetvli zero, bytes, e8, m2, ta, ma
    addi temp, group, \offset
    vle8.v packed, (temp)
    vand.vi nibbles, packed, 15
    vsrl.vi packed, packed, 4
    vrgather.vv values, table, nibbles
    vwmul.vv wide, values, x_low
    vrgather.vv values, table, packed
    vwmacc.vv wide, values, x_high
    vsetvli zero, zero, e16, m4, ta, ma
    .ifnb \first
    vwcvt.x.x.v dots, wide
    .else
    vwadd.wv dots, dots, wide
    .endif
.endm

/* sums += dots * the scales. */
.macro add_dots
    vsetivli zero, 16, e32, m4, ta, ma
    vnsrl.wi folded, dots, 0           /* columns 0 and 2 */
    vnsrl.wx other_half, dots, word_bits
    vadd.vv folded, folded, other_half
    vsetivli zero, 8, e32, m2, ta, ma
    vnsrl.wi scaled, folded, 0
    vnsrl.wx other_half, folded, word_bits
    vadd.vv folded, scaled, other_half
    vfmul.vf scaled, scales, act_scale
    vfcvt.f.x.v folded, folded
    vfmacc.vv sums, folded, scaled
.endm

/* Load the scales of 8 rows as floats. */
.macro load_scales
    vsetivli zero, 8, e16, m1, ta, ma
    vle16.v scales_f16, (group)
    vwmul.vx scales, scales_f16, shift_up /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx scales, scales, sign_bits
    vfmul.vf scales, scales, scale_up
.endm

.macro block_t4
    load_scales
    flw act_scale, Q8_SCALE(act)
    chunk 0, QUANTS, first
    chunk 1, QUANTS + 32
    chunk 2, QUANTS + 64
    chunk 3, QUANTS + 96
    add_dots
    addi act, act, Q8_BYTES
.endm

/* Store the words of x of a run from act on to sp, 8 times each; destroys x_at and quants. */
.macro spread_run
    li temp, 64
    vsetvli temp_1, temp, e32, m8, ta, ma
    vid.v v0
    vsrl.vi v0, v0, 3
    vsll.vi v0, v0, 2
    mv x_at, sp
    slli temp, temp_1, 2               /* bytes of a step */
    addi quants_end, x_at, 256
    mv quants, act
.Lwords\@:
    vluxei32.v v8, (quants), v0
    srli temp_1, temp, 3
    add quants, quants, temp_1
    vse32.v v8, (x_at)
    add x_at, x_at, temp
    bne x_at, quants_end, .Lwords\@
.endm

/* Add the part of a run that fits four registers, from byte \at on. */
.macro step at, first
    .if (\at) == 0
    vle8.v v16, (quants)
    .else
    addi temp, quants, \at
    vle8.v v16, (temp)
    .endif
    vand.vi v20, v16, 15
    vsrl.vi v16, v16, 4
    vsetvli temp, zero, e8, m1, ta, ma
    vrgather.vv v24, tile_table, v20
    vrgather.vv v25, tile_table, v21
    vrgather.vv v26, tile_table, v22
    vrgather.vv v27, tile_table, v23
    vrgather.vv v20, tile_table, v16
    vrgather.vv v21, tile_table, v17
    vrgather.vv v22, tile_table, v18
    vrgather.vv v23, tile_table, v19
    vsetvli temp, zero, e8, m4, ta, ma
    .if (\at) == 0
    vle8.v v16, (x_at)
    .else
    addi temp, x_at, \at
    vle8.v v16, (temp)
    .endif
    addi temp, x_at, 128 + \at
    vwmul.vv products, v24, v16
    vle8.v v24, (temp)
    vwmacc.vv products, v20, v24
    vsetvli temp, zero, e16, m4, ta, ma
    .ifnb \first
    vwadd.vv tile_dots, products, products_4
    .else
    vwadd.wv tile_dots, tile_dots, products
    vwadd.wv tile_dots, tile_dots, products_4
    .endif
.endm

/* tile_dots = the dots of the run at quants and x_at, in 32 lanes. LMUL `wide` has 16 int32, LMUL
 * `narrow` 8. */
.macro run_128
    vsetvli temp, zero, e8, m4, ta, ma
    step 0, first
    vsetvli temp, zero, e8, m4, ta, ma
    step 64
.endm

.macro run_256
    vsetvli temp, zero, e8, m4, ta, ma
    step 0, first
    vsetvli temp, zero, e32, m4, ta, ma
    vadd.vv tile_dots, tile_dots, tile_dots_4
.endm

/* v0 = the 32 lanes of \dots folded to 16. */
.macro fold_dots dots, wide
    vsetivli zero, 16, e32, \wide, ta, ma
    vnsrl.wi v0, \dots, 0
    vnsrl.wx v4, \dots, word_bits
    vadd.vv v0, v0, v4
.endm

/* y at out += the lanes of v0 * the scales. */
.macro finish_rows narrow
    vsetvli zero, rows_now, e32, \narrow, ta, ma
    vle32.v v16, (out)
    vnsrl.wi v4, v0, 0
    vnsrl.wx v6, v0, word_bits
    vadd.vv v4, v4, v6
    vfmul.vf v6, tile_scales, act_scale
    vfcvt.f.x.v v4, v4
    vfmacc.vv v16, v4, v6
    vse32.v v16, (out)
.endm

/* Load the scales at group_at as floats. */
.macro load_tile_scales narrow, half
    vsetivli zero, 8, e16, \half, ta, ma
    vle16.v v16, (group_at)
    vwmul.vx tile_scales, v16, shift_up /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, \narrow, ta, ma
    vand.vx tile_scales, tile_scales, sign_bits
    vfmul.vf tile_scales, tile_scales, scale_up
.endm

/* Compute y of 8 rows for a block. */
.macro group_t4 vlen, wide, narrow, half
    load_tile_scales \narrow, \half
    addi quants, group_at, QUANTS
    mv x_at, sp
    run_\vlen
    flw act_scale, Q8_SCALE(act)
    fold_dots tile_dots, \wide
    finish_rows \narrow
.endm

.macro group_t4_128
    group_t4 128, m4, m2, m1
.endm

.macro group_t4_256
    group_t4 256, m2, m1, mf2
.endm

.macro next_t4
    addi act, act, Q8_BYTES
.endm

/* Compute all rows, in tiles. \begin runs before a tile's blocks; \spread stores x of the block at
 * act to sp, \multiply adds the block of 8 rows at group_at to y at out, and `next` advances
 * act. */
.macro tiles vlen, block_bytes, begin, spread, multiply, next
.Ltile_\vlen:
    beqz rows_left, .Ldone_tiles
    li tile_rows, TILE
    bleu tile_rows, rows_left, .Lwhole_\vlen
    mv tile_rows, rows_left
.Lwhole_\vlen:
    mv out, dst
    mv left, tile_rows
.Lclear_\vlen:
    vsetvli temp, left, e32, m8, ta, ma
    vmv.v.i v0, 0
    vse32.v v0, (out)
    sub left, left, temp
    slli temp, temp, 2
    add out, out, temp
    bnez left, .Lclear_\vlen
    mv act, act_start
    mv tile_block, next_group
    beq act, act_end, .Lnext_\vlen
    \begin
.Lblock_\vlen:
    \spread
    mv group_at, tile_block
    mv out, dst
    mv left, tile_rows
.Lgroup_\vlen:
    li rows_now, 8
    bgeu left, rows_now, .Lrows_\vlen
    mv rows_now, left
.Lrows_\vlen:
    beqz ahead, .Lmultiply_\vlen
    prefetch_lines group_at, ahead, \block_bytes, temp
.Lmultiply_\vlen:
    \multiply
    add group_at, group_at, row_bytes
    addi out, out, 32
    sub left, left, rows_now
    bnez left, .Lgroup_\vlen
    addi tile_block, tile_block, \block_bytes
    \next
    bne act, act_end, .Lblock_\vlen
.Lnext_\vlen:
    slli temp, row_bytes, 4            /* TILE / 8 groups */
    add next_group, next_group, temp
    slli temp, tile_rows, 2
    add dst, dst, temp
    sub rows_left, rows_left, tile_rows
    j .Ltile_\vlen
.endm

.macro enter_tiles stack_bytes
    push ALL_SAVED_BYTES, ALL_SAVED
    addi sp, sp, -(\stack_bytes)
    .cfi_adjust_cfa_offset \stack_bytes
    csrr temp, vlenb
    addi temp, temp, -32
    mv next_group, group
    beqz temp, .Ltile_256
.endm

.macro leave_tiles stack_bytes
.Ldone_tiles:
    addi sp, sp, \stack_bytes
    .cfi_adjust_cfa_offset -(\stack_bytes)
    pop ALL_SAVED_BYTES, ALL_SAVED
    ret
.endm

.macro load_constants
    li bytes, 32
    li word_bits, 32
    li shift_up, 1 << 13
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

/* The loop for long vectors: one group of 8 rows at a time. */
.macro groups block, block_bytes
.Lgroup:
    beqz rows_left, .Ldone
    mv act, act_start
    vsetivli zero, 8, e32, m2, ta, ma
    vmv.v.i sums, 0
    beq act, act_end, .Lstore
.Lblock:
    beqz ahead, .Lno_prefetch
    prefetch_lines group, ahead, \block_bytes, temp
.Lno_prefetch:
    \block
    addi group, group, \block_bytes
    bne act, act_end, .Lblock
.Lstore:
    li temp, 8
    bgeu rows_left, temp, .Lstore_rows
    mv temp, rows_left
.Lstore_rows:
    vsetvli zero, temp, e32, m2, ta, ma
    vse32.v sums, (dst)
    addi dst, dst, 32
    sub rows_left, rows_left, temp
    j .Lgroup
.Ldone:
    ret
.endm

.macro load_table
    vsetivli zero, 16, e8, m1, ta, ma
    vle8.v table, (ahead)
    vmv1r.v tile_table, table
    ld ahead, TABLE_AHEAD(ahead)
.endm

/* Body of the gemv of block_q4x8. */
.macro gemv_t4
    load_table
    measure_rows COLS_LOG2, Q8_BYTES, Q4X8_BYTES
    load_constants
    csrr temp, vlenb
    bgtu temp, bytes, .Lgroup
    enter_tiles 256
    tiles 128, Q4X8_BYTES, , spread_run, group_t4_128, next_t4
    tiles 256, Q4X8_BYTES, , spread_run, group_t4_256, next_t4
    leave_tiles 256
    groups block_t4, Q4X8_BYTES
.endm

#endif
