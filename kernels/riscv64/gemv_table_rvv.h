/* Shared by the RVV gemvs whose nibbles go through a table, a group of 8 rows at a time.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows (low nibbles) and the 4 columns 16 further on (high
 * nibbles); the activations of either are one word, broadcast over the rows. The table stays in a
 * register group for the whole call, and vrgather makes int8 of 32 nibbles. No value is -128, so that
 * the products of a byte's two nibbles add in int16; four such sums go to int32 lanes, which fold by
 * narrowing shifts, four to a row. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_TABLE_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_TABLE_RVV_H

#define dst a0
#define group a1       /* the argument w, read from end to end */
#define act_start a2
#define rows_left a3
#define cols a4
#define row_bytes a4   /* of one group of 8 rows, which measure_rows tells; not used */
#define ahead a5       /* first the argument table */
#define act_end a6
#define act a7
#define bytes t0       /* 32 */
#define word_bits t1   /* 32, a shift too long for an immediate */
#define sign_bits t2   /* F16_SIGN_MAGNITUDE */
#define shift_up t3    /* 2^13 */
#define temp t4
#define temp_1 t5
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define x_low v0       /* m2 */
#define x_high v2
#define table v4       /* m2, its first 16 bytes */
#define packed v6      /* m2; then high nibbles */
#define nibbles v8     /* m2 */
#define values v10     /* m2 */
#define wide v12       /* m4, int16 */
#define folded v12     /* m4, int32, when products are done with */
#define sums v16       /* m2, y of 8 rows */
#define scales v18     /* m2, of the rows */
#define scaled v20     /* m2 */
#define scales_f16 v22 /* m1 */
#define other_half v0  /* m4, when x is done with */
#define dots v24       /* m8, int32 */

#include "kernels/riscv64/gemv_rvv.h"

/* Words \word and \word + 4 of x with the chunk at \offset from group. */
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

/* sums += 32 columns whose nibbles are at \at from group, and their activations; on to the next. */
.macro add_run at
    flw act_scale, Q8_SCALE(act)
    chunk 0, \at, first
    chunk 1, \at + 32
    chunk 2, \at + 64
    chunk 3, \at + 96
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
    addi act, act, Q8_BYTES
.endm

/* The scales of 8 rows as floats. */
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
    add_run QUANTS
.endm

.macro block_fig4
    load_scales
    add_run QUANTS
    add_run QUANTS + 128
    add_run QUANTS + 256
    add_run QUANTS + 384
.endm

/* Body of a gemv: `block` is block_bytes of 8 rows. */
.macro gemv_table block, block_bytes
    li bytes, 16
    vsetvli zero, bytes, e8, m1, ta, ma
    vle8.v table, (ahead)
    ld ahead, TABLE_AHEAD(ahead)
    measure_rows COLS_LOG2, Q8_BYTES, 0
    li bytes, 32
    li word_bits, 32
    li shift_up, 1 << 13
    li sign_bits, F16_SIGN_MAGNITUDE
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

#endif
