/* Registers for gemv_nibbles_rvv.h (which explains the algorithm), and, for each VLEN,
 * the product of a group of 8 rows, or of a set of four groups, with a block of x. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_NIBBLES_GROUPS_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_NIBBLES_GROUPS_RVV_H

#define dst a0
#define next_group a1  /* the argument w */
#define act_start a2
#define rows_left a3
#define cols a4
#define row_bytes a4   /* bytes of one group of 8 rows; reuses the register of cols */
#define ahead a5
#define act_end a6
#define act a7
#define group t0
#define tile_block t1  /* points to the block of the tile's first group */
#define out t2
#define bias t3        /* BIAS times x.sum */
#define sets_left t4
#define temp t5
#define sign_bits t6   /* F16_SIGN_MAGNITUDE */
#define n_sets s0      /* of the tile */
#define set_rows s1
#define shift_up s2    /* 2^13 */
#define set_at s3      /* a set's first group */
#define spill_at n_sets /* VLEN 128: dots of a group */
#define tile_rows set_rows
#define tile_left sets_left /* rows */
#define words_left s4  /* scales of the tile's groups, four at a time */
#define tile_bytes s5  /* bytes of the tile's groups */
#define set_bytes s6
#define group_end s7
#define high_at s8     /* fifth bits of a group */
#define scale_up ft0   /* 2^112 */
#define act_scale ft1
#define act_sum ft2    /* x.sum times x.d, if there are minima */

#define TILE 64        /* rows */
#define SCALES_BYTES 32 /* offsets of a set's scales, then saved values, then dots of a tile's groups */
#define DOTS_AT (SCALES_BYTES + 80)
#define GROUP_DOTS 64
#define FRAME_BYTES (DOTS_AT + TILE / GROUP_ROWS * GROUP_DOTS)

#include "kernels/riscv64/matrix/gemv/gemv_rvv.h"

/* Broadcast word k of x to all lanes of the k-th register group from v0 on, of m2 or of m1. */
.macro take_act_m2
    vsetivli zero, 8, e32, m2, ta, ma
    broadcast v0, 0
    broadcast v2, 1
    broadcast v4, 2
    broadcast v6, 3
    broadcast v8, 4
    broadcast v10, 5
    broadcast v12, 6
    broadcast v14, 7
    take_act_sums
.endm

.macro take_act_m1
    vsetivli zero, 8, e32, m1, ta, ma
    broadcast v0, 0
    broadcast v1, 1
    broadcast v2, 2
    broadcast v3, 3
    broadcast v4, 4
    broadcast v5, 5
    broadcast v6, 6
    broadcast v7, 7
    take_act_sums
.endm

.macro take_act_sums
    lw bias, Q8_SUM(act)
    flw act_scale, Q8_SCALE(act)
#ifdef MINS_AT
    fcvt.s.w act_sum, bias
    fmul.s act_sum, act_sum, act_scale
#else
    slli bias, bias, BIAS_LOG2
#endif
.endm

#ifdef HIGH_AT
/* int16 lanes += 16 * fifth bits * x: bit k of the 32 bytes at high_at times word k of x. */
.macro add_fifths lanes, bits, scratch, x0, x1, x2, x3, x4, x5, x6, x7, lmul
    li temp, 32
    vsetvli zero, temp, e8, \lmul, ta, ma
    vle8.v \bits, (high_at)
    li temp, 16
    add_fifth \lanes, \bits, \scratch, \x0, vsll.vi, 4
    add_fifth \lanes, \bits, \scratch, \x1, vsll.vi, 3
    add_fifth \lanes, \bits, \scratch, \x2, vsll.vi, 2
    add_fifth \lanes, \bits, \scratch, \x3, vsll.vi, 1
    vand.vx \scratch, \bits, temp
    vwmaccsu.vv \lanes, \x4, \scratch
    add_fifth \lanes, \bits, \scratch, \x5, vsrl.vi, 1
    add_fifth \lanes, \bits, \scratch, \x6, vsrl.vi, 2
    add_fifth \lanes, \bits, \scratch, \x7, vsrl.vi, 3
.endm

.macro add_fifth lanes, bits, scratch, x, shift, by
    \shift \scratch, \bits, \by
    vand.vx \scratch, \scratch, temp
    vwmaccsu.vv \lanes, \x, \scratch
.endm

/* \to (m4) = the sums of two groups. The groups' lanes, four int16 per row, are at
 * spill_at; added as int16, they would overflow. Clobbers v0-v7, v16-v31. */
.macro fold_two_groups to
    vsetvli temp, zero, e16, m4, ta, ma
    vl8re16.v v0, (spill_at)
    addi spill_at, spill_at, 2 * GROUP_DOTS
    vnsrl.wi v16, v0, 0                /* columns 0 and 2 */
    vnsrl.wi v20, v0, 16               /* columns 1 and 3 */
    li temp, 32
    vwadd.vv v24, v16, v20
    vsetvli zero, temp, e32, m4, ta, ma
    vnsrl.wi v0, v24, 0
    vnsrl.wx v4, v24, temp
    vadd.vv \to, v0, v4
.endm
#endif

/* ---- VLEN 128: x in v0-v15, dots of a group in v16-v23 ---- */

/* Store a group's dot products at spill_at; `group` points to its nibbles. 128 bytes fill eight registers; x of two
 * chunks fills four, and so do the low or the high nibbles of two chunks. The first product may overlap the upper
 * half of its sums. */
.macro group_128
    vl8re8.v v24, (group)
#ifdef HIGH_AT
    addi high_at, group, HIGH_AT - QUANTS_AT
#endif
    vsetvli temp, zero, e8, m4, ta, ma
    add group, group, row_bytes
    vand.vi v20, v24, 15
    vwmulsu.vv v16, v0, v20
    vsrl.vi v24, v24, 4
    vwmaccsu.vv v16, v8, v24
    vand.vi v24, v28, 15
    vwmaccsu.vv v16, v4, v24
    vsrl.vi v28, v28, 4
    vwmaccsu.vv v16, v12, v28
    vsetvli temp, zero, e16, m4, ta, ma
    vadd.vv v16, v16, v20              /* two chunks to one */
#ifdef HIGH_AT
    add_fifths v16, v24, v26, v0, v2, v4, v6, v8, v10, v12, v14, m2
#endif
    vs4r.v v16, (spill_at)
    addi spill_at, spill_at, GROUP_DOTS
.endm

/* y += (float)(dots - bias) * (scales * x.d) for a set of four groups, or for the rest of the tile;
 * then move to the next set.
 * v0-v15 are free: x is no longer needed. */
.macro set_128
#ifdef HIGH_AT
    fold_two_groups v8
    fold_two_groups v12
#else
    vsetvli temp, zero, e16, m4, ta, ma
    vl8re16.v v0, (spill_at)
    addi spill_at, spill_at, 2 * GROUP_DOTS
    vl8re16.v v8, (spill_at)
    addi spill_at, spill_at, 2 * GROUP_DOTS
    vnsrl.wi v16, v0, 0                /* columns 0 and 2 */
    vnsrl.wi v24, v0, 16               /* columns 1 and 3 */
    vnsrl.wi v20, v8, 0
    vnsrl.wi v28, v8, 16
    vadd.vv v16, v16, v24
    vadd.vv v20, v20, v28
    vnsrl.wi v0, v16, 0
    vnsrl.wi v4, v16, 16
    vwadd.vv v8, v0, v4
#endif
    vsetvli temp, words_left, e64, m4, ta, ma
    vle32.v v16, (sp)
    vluxei32.v v20, (set_at), v16      /* scales, four at a time */
#ifdef MINS_AT
    addi temp, set_at, MINS_AT
    vluxei32.v v0, (temp), v16
#endif
    vsetvli temp, zero, e16, m4, ta, ma
    vwmul.vx v24, v20, shift_up        /* sign-extended and shifted left by 13 */
    vsetvli temp, tile_left, e32, m8, ta, ma
    finish v8, v24, v16, v0, m8, m4
    addi out, out, 128
    add set_at, set_at, set_bytes
    addi tile_left, tile_left, -32
    addi words_left, words_left, -8
.endm

/* y += (float)(dots - bias) * (scales * x.d), and fp16 minima times the sum of x; \half is \lmul of
 * int16. */
.macro finish dots, scales, sums, minima, lmul, half
    vle32.v \sums, (out)
    vand.vx \scales, \scales, sign_bits
#ifndef MINS_AT
    vsub.vx \dots, \dots, bias
#endif
    vfmul.vf \scales, \scales, scale_up
    vfcvt.f.x.v \dots, \dots
    vfmul.vf \scales, \scales, act_scale
    vfmacc.vv \sums, \dots, \scales
#ifdef MINS_AT
    vsetvli zero, zero, e16, \half, ta, ma
    vwmul.vx \scales, \minima, shift_up
    vsetvli zero, zero, e32, \lmul, ta, ma
    vand.vx \scales, \scales, sign_bits
    vfmul.vf \scales, \scales, scale_up
    vfmacc.vf \sums, act_sum, \scales
#endif
    vse32.v \sums, (out)
.endm

/* ---- VLEN 256, a set of four groups: x in v0-v7, dots in v8-v15 ---- */

.macro group_256 dots
    vsetvli temp, zero, e8, m4, ta, ma /* 128 bytes */
    addi temp, group, QUANTS_AT
    vle8.v v16, (temp)
#ifdef HIGH_AT
    addi high_at, group, HIGH_AT
#endif
    add group, group, row_bytes
    vand.vi v20, v16, 15
    vsrl.vi v16, v16, 4
    vwmulsu.vv v24, v0, v20
    vwmaccsu.vv v24, v4, v16
    vsetvli temp, zero, e16, m4, ta, ma
    vadd.vv v24, v24, v28              /* four chunks to two, */
    vsetvli temp, zero, e16, m2, ta, ma
    vadd.vv \dots, v24, v26            /* two to one */
#ifdef HIGH_AT
    add_fifths \dots, v16, v17, v0, v1, v2, v3, v4, v5, v6, v7, m1
#endif
.endm

.macro load_minima_256
#ifdef MINS_AT
    addi temp, set_at, MINS_AT
    vluxei32.v v28, (temp), v20
#endif
.endm

.macro set_256
    mv set_at, group
    group_256 v8
    group_256 v10
    group_256 v12
    group_256 v14
    vsetvli temp, zero, e16, m4, ta, ma
    vnsrl.wi v16, v8, 0                /* columns 0 and 2 */
    vnsrl.wi v20, v8, 16               /* columns 1 and 3 */
#ifdef HIGH_AT
    li temp, 32
    vwadd.vv v24, v16, v20
    vsetvli zero, temp, e32, m4, ta, ma
    vnsrl.wi v16, v24, 0
    vnsrl.wx v20, v24, temp
    vadd.vv v16, v16, v20
    vsetivli zero, 8, e64, m2, ta, ma
    vle32.v v20, (sp)
    vluxei32.v v30, (set_at), v20      /* scales, four at a time */
    load_minima_256
    vsetvli temp, zero, e16, m2, ta, ma
    vwmul.vx v20, v30, shift_up        /* sign-extended and shifted left by 13 */
#else
    vadd.vv v16, v16, v20
    vsetivli zero, 8, e64, m2, ta, ma
    vle32.v v20, (sp)
    vluxei32.v v30, (set_at), v20      /* scales, four at a time */
    load_minima_256
    vsetvli temp, zero, e16, m2, ta, ma
    vnsrl.wi v24, v16, 0
    vnsrl.wi v26, v16, 16
    vwmul.vx v20, v30, shift_up        /* sign-extended and shifted left by 13 */
    vwadd.vv v16, v24, v26
#endif
    vsetvli zero, zero, e32, m4, ta, ma
    finish v16, v20, v24, v28, m4, m2
    addi out, out, 128
.endm

/* ---- any VLEN, one group: x in v0-v15 ---- */

#define sums v16       /* m2 */
#define dots v24       /* m4, int16; later m2, int32 */
#define scales v26     /* m2, the upper half of dots, which are no longer needed */
#define packed v28     /* m2 */
#define nibbles v30    /* m2 */
#define nibbles_1 v31

.macro chunk offset, low, high, first
    addi temp, group, QUANTS_AT + \offset
    vle8.v packed, (temp)
    vand.vi nibbles, packed, 15
    vsrl.vi packed, packed, 4
    .ifnb \first
    vwmulsu.vv dots, \low, nibbles
    .else
    vwmaccsu.vv dots, \low, nibbles
    .endif
    vwmaccsu.vv dots, \high, packed
.endm

.macro single_group
    li temp, 32
    vsetvli zero, temp, e8, m2, ta, ma
    chunk 0, v0, v8, first
    chunk 32, v2, v10
    chunk 64, v4, v12
    chunk 96, v6, v14
#ifdef HIGH_AT
    addi high_at, group, HIGH_AT
    add_fifths dots, v18, v20, v0, v2, v4, v6, v8, v10, v12, v14, m2
    vsetivli zero, 16, e16, m2, ta, ma
    vnsrl.wi packed, dots, 0           /* columns 0 and 2 */
    vnsrl.wi nibbles, dots, 16         /* columns 1 and 3 */
    li temp, 32
    vwadd.vv dots, packed, nibbles
    vsetivli zero, 8, e32, m2, ta, ma
    vnsrl.wi packed, dots, 0
    vnsrl.wx nibbles, dots, temp
    vadd.vv dots, packed, nibbles
    vsetvli zero, zero, e16, m1, ta, ma
    vle16.v packed, (group)
#else
    vsetivli zero, 16, e16, m2, ta, ma
    vnsrl.wi packed, dots, 0           /* columns 0 and 2 */
    vnsrl.wi nibbles, dots, 16         /* columns 1 and 3 */
    vadd.vv packed, packed, nibbles
    vsetivli zero, 8, e16, m1, ta, ma
    vnsrl.wi nibbles, packed, 0
    vnsrl.wi nibbles_1, packed, 16
    vle16.v packed, (group)
    vwadd.vv dots, nibbles, nibbles_1
#endif
    vwmul.vx scales, packed, shift_up
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx scales, scales, sign_bits
#ifndef MINS_AT
    vsub.vx dots, dots, bias
#endif
    vfmul.vf scales, scales, scale_up
    vfcvt.f.x.v dots, dots
    vfmul.vf scales, scales, act_scale
    vfmacc.vv sums, dots, scales
#ifdef MINS_AT
    addi temp, group, MINS_AT
    vsetvli zero, zero, e16, m1, ta, ma
    vle16.v packed, (temp)
    vwmul.vx scales, packed, shift_up
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx scales, scales, sign_bits
    vfmul.vf scales, scales, scale_up
    vfmacc.vf sums, act_sum, scales
#endif
.endm

#endif
