/* The RVV gemv of FIG4; gemv_table_rvv.h has the code that all gemvs with tables share. An integer sum covers 128 columns,
 * half a block of x.
 *
 * If no value lies beyond +-TABLE_NARROW, as in the packer's tables, an int16 holds the sum of 8 products, 8 * 31 * 128 =
 * 31744. At VLEN 256, int16 sums suffice for all 128 columns; at 128, for half of them, and the
 * other half's sums wait on the stack. A wider table needs int32 sums after two products. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_FIG4_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_FIG4_RVV_H

#include "kernels/riscv64/matrix/gemv/gemv_table_rvv.h"

#define is_wide t0             /* for tiles: 1 if a value lies beyond TABLE_NARROW */
#define act_at s8              /* while x is spread */
#define waiting s10            /* address of products that wait on the stack */
#define half s11               /* half of x's block, in bytes: 0 or 128 */
#define group_half group_at    /* half, in the loop for long vectors */

#define SPREAD_BYTES (8 * FIG4_COLS)
#define STACK_BYTES (SPREAD_BYTES + 128)

/* If the number of blocks is odd, act_end is after the first half of x's last block. */
.macro measure_fig4
    srli temp, cols, FIG4_COLS_LOG2
    li row_bytes, FIG4_BYTES
    mul row_bytes, row_bytes, temp
    srli temp_1, temp, 1
    li act_end, Q8K_BYTES
    mul act_end, act_end, temp_1
    add act_end, act_end, act_start
    andi temp, temp, 1
    slli temp, temp, FIG4_COLS_LOG2
    add act_end, act_end, temp
    load_float scale_up, F32_2P112, temp
.endm

.macro next_half half
    xori \half, \half, FIG4_COLS
    addi act, act, FIG4_COLS
    bnez \half, .Lhalf\@
    addi act, act, Q8K_BYTES - 2 * FIG4_COLS
.Lhalf\@:
.endm

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Store the words of 128 columns from act on to sp, 8 times each, in the order of the
 * steps: for low nibbles, then for high nibbles, four registers each. Then store x's scale. */
.macro spread_fig4 vlen
    li temp, 64
    vsetvli zero, temp, e32, m8, ta, ma
    vid.v v0
    vsrl.vi v0, v0, 3
    .if \vlen == 128
    vand.vi v8, v0, 2                  /* words 0, 1, 4, 5 */
    vadd.vv v0, v0, v8
    .endif
    vsll.vi v0, v0, 2
    mv x_at, sp
    mv act_at, act
    addi quants_end, sp, SPREAD_BYTES
.Lrun\@:
    vluxei32.v v8, (act_at), v0
    vse32.v v8, (x_at)
    .if \vlen == 128
    addi temp, act_at, 8
    vluxei32.v v8, (temp), v0
    addi x_at, x_at, 128
    vse32.v v8, (x_at)
    addi x_at, x_at, 128
    .else
    addi x_at, x_at, 256
    .endif
    addi act_at, act_at, BLOCK_COLS
    bne x_at, quants_end, .Lrun\@
    sub temp, act, half
    flw act_scale, Q8K_SCALE(temp)
.endm

.macro spread_fig4_128
    spread_fig4 128
.endm

.macro spread_fig4_256
    spread_fig4 256
.endm

/* v8-v15 = values of \bytes at quants, low nibbles first; v16-v23 = their x. Both pointers advance
 * except in the \last step; in the first step x is at sp, and x_at is set. */
.macro look_up bytes, first, last
    vle8.v v16, (quants)
    .if \last == 0
    addi quants, quants, \bytes
    .endif
    vsrl.vi v20, v16, 4
    vand.vi v16, v16, 15
    vsetvli temp, zero, e8, m1, ta, ma
    vrgather.vv v8, tile_table, v16
    vrgather.vv v9, tile_table, v17
    vrgather.vv v10, tile_table, v18
    vrgather.vv v11, tile_table, v19
    vrgather.vv v12, tile_table, v20
    vrgather.vv v13, tile_table, v21
    vrgather.vv v14, tile_table, v22
    vrgather.vv v15, tile_table, v23
    .if \first
    vl8re8.v v16, (sp)
    addi x_at, sp, 2 * \bytes
    .else
    vl8re8.v v16, (x_at)
    .if \last == 0
    addi x_at, x_at, 2 * \bytes
    .endif
    .endif
    vsetvli temp, zero, e8, m4, ta, ma
.endm

.macro narrow_step bytes, multiply, first, last
    look_up \bytes, \first, \last
    \multiply products, v8, v16
    vwmacc.vv products, v12, v20
.endm

/* products = the sums of four steps. */
.macro narrow_steps bytes, first, last
    narrow_step \bytes, vwmul.vv, \first, 0
    narrow_step \bytes, vwmacc.vv, 0, 0
    narrow_step \bytes, vwmacc.vv, 0, 0
    narrow_step \bytes, vwmacc.vv, 0, \last
.endm

#define fig4_dots v16          /* m8, int32 */

/* fig4_dots = the dots of 128 columns, in 32 lanes. */
.macro narrow_128
    narrow_steps 64, 1, 0
    vs8r.v products, (waiting)
    narrow_steps 64, 0, 1
    vl8re8.v v8, (waiting)
    vsetvli temp, zero, e16, m4, ta, ma
    vwadd.vv fig4_dots, products, products_4
    vwadd.wv fig4_dots, fig4_dots, v8
    vwadd.wv fig4_dots, fig4_dots, v12
.endm

.macro narrow_256
    narrow_steps 128, 1, 1
    vsetvli temp, zero, e16, m2, ta, ma
    vwadd.vv fig4_dots, products, v2
    vwadd.wv fig4_dots, fig4_dots, products_4
    vwadd.wv fig4_dots, fig4_dots, v6
.endm

/* Like narrow_128, but for a wide table; the result is in v24, 16 lanes at VLEN 128. */
.macro wide_128
    vmv.v.i v24, 0                     /* 64 bytes */
.Lstep\@:
    look_up 64, 0, 0
    vwmul.vv products, v8, v16
    vwmacc.vv products, v12, v20
    vsetvli temp, zero, e16, m4, ta, ma
    vwadd.vv v8, products, products_4
    vsetivli zero, 16, e32, m4, ta, ma
    vnsrl.wi v0, v8, 0
    vnsrl.wx v4, v8, word_bits
    vadd.vv v24, v24, v0
    vadd.vv v24, v24, v4
    vsetvli temp, zero, e8, m4, ta, ma
    bne x_at, waiting, .Lstep\@
    vmv4r.v v0, v24
.endm

.macro wide_256
    vmv.v.i v24, 0
.Lstep\@:
    look_up 128, 0, 0
    vwmul.vv products, v8, v16
    vwmacc.vv products, v12, v20
    vsetvli temp, zero, e16, m4, ta, ma
    vwadd.vv v8, products, products_4
    vsetvli temp, zero, e32, m4, ta, ma
    vadd.vv v24, v24, v8
    vadd.vv v24, v24, v12
    vsetvli temp, zero, e8, m4, ta, ma
    bne x_at, waiting, .Lstep\@
    fold_dots v24, m2
.endm

.macro group_fig4 vlen, wide, narrow, half_group
    load_tile_scales \narrow, \half_group
    addi quants, group_at, QUANTS
    vsetvli temp, zero, e8, m4, ta, ma
    beqz is_wide, .Lnarrow\@
    mv x_at, sp
    wide_\vlen
    j .Lfinish\@
.Lnarrow\@:
    narrow_\vlen
    fold_dots fig4_dots, \wide
.Lfinish\@:
    finish_rows \narrow
.endm

.macro group_fig4_128
    group_fig4 128, m4, m2, m1
.endm

.macro group_fig4_256
    group_fig4 256, m2, m1, mf2
.endm

.macro begin_fig4
    li half, 0
    addi waiting, sp, SPREAD_BYTES
.endm

.macro next_fig4
    next_half half
.endm

/* ---- long vectors --------------------------------------------------------------------------- */

.macro four_chunks word, offset, first
    chunk \word, \offset, \first
    chunk \word + 1, \offset + 32
    chunk \word + 2, \offset + 64
    chunk \word + 3, \offset + 96
.endm

.macro block_fig4
    load_scales
    bne act, act_start, .Lhalf_known\@
    li group_half, 0
.Lhalf_known\@:
    sub temp, act, group_half
    flw act_scale, Q8K_SCALE(temp)
    four_chunks 0, QUANTS, first
    four_chunks 8, QUANTS + 128
    four_chunks 16, QUANTS + 256
    four_chunks 24, QUANTS + 384
    add_dots
    next_half group_half
.endm

.macro gemv_fig4
    load_table
    vrsub.vi v8, table, 0
    vmax.vv v8, v8, table
    vmv.s.x v9, zero
    vredmaxu.vs v9, v8, v9
    measure_fig4
    load_constants
    csrr temp, vlenb
    bgtu temp, bytes, .Lgroup
    vmv.x.s is_wide, v9                /* reuses the register of bytes */
    sltiu is_wide, is_wide, TABLE_NARROW + 1
    xori is_wide, is_wide, 1
    enter_tiles STACK_BYTES
    tiles 128, FIG4_BYTES, begin_fig4, spread_fig4_128, group_fig4_128, next_fig4
    tiles 256, FIG4_BYTES, begin_fig4, spread_fig4_256, group_fig4_256, next_fig4
    leave_tiles STACK_BYTES
    groups block_fig4, FIG4_BYTES
.endm

#endif
