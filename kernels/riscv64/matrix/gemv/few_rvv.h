/* gemv of TQ2_0, Q2_0 and Q1_0 for RVV, at any VLEN.
 *
 * A lane is a byte of weights: 4 columns of 8 rows, then the next 4 columns. x of a block is spread
 * on the stack in the same order, once for up to 128 rows, and each load of x serves two groups of 8
 * rows. Fields are masked but not shifted, so their int16 sums are multiples of the value of the
 * field's lowest bit; a shift divides by this value before the next lower field is added. A part with
 * its own scale adds at most 64 products in a lane, 64 * 3 * 128 = 24576. Lanes are folded to 32, the
 * 4 columns of 8 rows. The lanes of all groups are kept on the stack and finished together, as many
 * rows at a time as a vector has lanes.
 *
 * A kernel that includes this defines, for weights, BLOCK_BYTES, PARTS and RUN_BYTES (one field of
 * all bytes). */
#ifndef INGOT_KERNELS_RISCV64_FEW_RVV_H
#define INGOT_KERNELS_RISCV64_FEW_RVV_H

#include "kernels/riscv64/asm.h"

#define dst a0
#define weights a1     /* the tile's first group, block 0 */
#define act_start a2
#define rows_left a3
#define act_end a4
#define row_bytes a5   /* bytes of one group of 8 rows */
#define mask a7        /* of a field */
#define sign_bits a7   /* F16_SIGN_MAGNITUDE, at the end of a block */
#define group t0       /* two groups are multiplied at once */
#define at_a t1
#define n_rows t1      /* at the end of a block: the number of rows finished together */
#define x_at t2
#define n_pairs t2     /* 2 * n_rows */
#define at_b t3
#define out t3
#define left t4        /* rows of the tile */
#define temp t5
#define temp_1 t6
#define act s0
#define tile_block s1
#define tile_rows s2
#define lanes s3       /* bytes of a step, in registers of m4 */
#define weights_end s4
#define max_rows s5    /* the largest n_rows */
#define shift_up s6    /* 2^13 */
#define group_b s7     /* the second of the two groups */
#define wide s8        /* 2 * lanes if that many bytes are loaded together, else 0 */
#define longer s9      /* vlenb - 32 */
#define slot s11       /* 1536 bytes after the lanes of `group` in part 0 */
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define acc_a v0       /* m8, int16 */
#define acc_b v8

#define TILE 128       /* rows */
#define SLOTS_BYTES (TILE / 8 * 64)
/* The frame: sums of x for each part, x of a block, the offsets of scales, and the lanes of the
 * tile's groups for each part. */
#define FRAME_SUMS 0
#define FRAME_X (FRAME_SUMS + 16)
#define FRAME_OFFSETS (FRAME_X + 2048)
#define FRAME_SLOTS (FRAME_OFFSETS + 4 * TILE)
#define LOCALS (FRAME_SLOTS + PARTS * SLOTS_BYTES)

.macro enter_frame
    push ALL_SAVED_BYTES, ALL_SAVED
    li temp, LOCALS
    sub sp, sp, temp
    .cfi_adjust_cfa_offset LOCALS
    load_float scale_up, F32_2P112, temp
    li shift_up, 1 << 13
.endm

.macro leave_frame
    li temp, LOCALS
    add sp, sp, temp
    .cfi_adjust_cfa_offset -LOCALS
    pop ALL_SAVED_BYTES, ALL_SAVED
.endm

/* Set row_bytes and act_end for \cols columns; destroys \cols. */
.macro measure cols
    srli \cols, \cols, COLS_K_LOG2
    li row_bytes, BLOCK_BYTES
    li temp, Q8K_BYTES
    mul row_bytes, row_bytes, \cols
    mul temp, temp, \cols
    add act_end, act_start, temp
.endm

/* Store each word of x, 4 columns, 8 times at sp. */
.macro spread_x
    li temp, 512
    vsetvli left, temp, e32, m8, ta, ma
    vid.v v0
    vsrl.vi v0, v0, 3
    vsll.vi v0, v0, 2
    mv x_at, act
    addi out, sp, FRAME_X
    srli temp_1, left, 3              /* words of x */
    slli temp_1, temp_1, 2
.Lspread:
    vluxei32.v v8, (x_at), v0
    vse32.v v8, (out)
    add x_at, x_at, temp_1
    slli at_a, left, 2
    add out, out, at_a
    sub temp, temp, left
    bnez temp, .Lspread
.endm

/* Store the sums of x for each part after x. */
.macro sum_parts
    flw act_scale, Q8K_SCALE(act)
    .irp part, 0, 1, 2, 3
    .if \part < PARTS
    lh temp, Q8K_SUM + (\part)*(16/PARTS)*2(act)
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \n < 16/PARTS
    lh temp_1, Q8K_SUM + ((\part)*(16/PARTS)+\n)*2(act)
    add temp, temp, temp_1
    .endif
    .endr
    sw temp, FRAME_SUMS + 4*(\part)(sp)
    .endif
    .endr
.endm

/* Start both groups again from their beginning, with x from \place on. */
.macro from_start place
    addi at_a, group, 16 * PARTS
    addi at_b, group_b, 16 * PARTS
    addi x_at, sp, FRAME_X + (\place)
    vsetvli zero, lanes, e8, m4, ta, ma
.endm

/* acc_a = acc_b = 0, within a pass. */
.macro clear_sums
    vwsub.vv acc_a, v16, v16
    vwsub.vv acc_b, v16, v16
.endm

/* Apply \op \with to the weights, then \then in v16 and v20. */
.macro mask_weights op, with, then
    \op v16, v16, \with
    \op v20, v20, \with
    .ifnb \then
    vand.vi v16, v16, \then
    vand.vi v20, v20, \then
    .endif
.endm

/* acc_a, acc_b += x * one field of the weights of both groups, from x_at, at_a and at_b, until
 * weights_end. While enough remains, twice as much is loaded at a time (vle16.v, in registers of
 * m8). */
.macro pass op, with, then
    bnez wide, .Lstep\@
    vle8.v v24, (x_at)
    vle8.v v16, (at_a)
    vle8.v v20, (at_b)
    mask_weights \op, \with, \then
    vwmaccsu.vv acc_a, v24, v16
    vwmaccsu.vv acc_b, v24, v20
    j .Lpassed\@
.Lstep\@:
    vle16.v v24, (x_at)
    vle16.v v16, (at_a)
    add x_at, x_at, wide
    add at_a, at_a, wide
    mask_weights \op, \with, \then
    vwmaccsu.vv acc_a, v24, v16
    vwmaccsu.vv acc_a, v28, v20
    vle16.v v16, (at_b)
    add at_b, at_b, wide
    mask_weights \op, \with, \then
    vwmaccsu.vv acc_b, v24, v16
    vwmaccsu.vv acc_b, v28, v20
    bne at_a, weights_end, .Lstep\@
.Lpassed\@:
.endm

.macro first_pass place, op, with, then
    from_start \place
    clear_sums
    pass \op, \with, \then
.endm

.macro next_pass place, op, with
    from_start \place
    pass \op, \with
.endm

/* Multiply fields 0, 2 and 3 of TQ2_0, which share one load of weights. */
.macro pass_tq2
    from_start 0
.Lstep\@:
    vle8.v v16, (at_a)
    vle8.v v20, (at_b)
    vle8.v v24, (x_at)
    addi temp, x_at, 1024
    vand.vi v28, v16, 3
    add at_a, at_a, lanes
    vwmaccsu.vv acc_a, v24, v28
    vand.vi v28, v20, 3
    add at_b, at_b, lanes
    vwmaccsu.vv acc_b, v24, v28
    vle8.v v24, (temp)
    vsrl.vi v28, v16, 4
    addi temp, x_at, 1536
    vand.vi v28, v28, 3
    add x_at, x_at, lanes
    vwmaccsu.vv acc_a, v24, v28
    vsrl.vi v28, v20, 4
    vand.vi v28, v28, 3
    vwmaccsu.vv acc_b, v24, v28
    vle8.v v24, (temp)
    vsrl.vi v16, v16, 6
    vsrl.vi v20, v20, 6
    vwmaccsu.vv acc_a, v24, v16
    vwmaccsu.vv acc_b, v24, v20
    bne at_a, weights_end, .Lstep\@
.endm

/* Divide the sums by 2^\by, because a field is not shifted down before. */
.macro shift_sums by
    vsetvli zero, lanes, e16, m8, ta, ma
    vsra.vi acc_a, acc_a, \by
    vsra.vi acc_b, acc_b, \by
.endm

/* Fold the sums to 32 lanes each; store_sums stores them at slot, for part \part. If the lanes fill
 * their registers, as at VLEN 128 and 256, no lane moves. */
.macro fold_halves acc
    vsetvli zero, lanes, e16, m8, ta, ma
    mv temp, lanes
.Lhalf\@:
    srli temp, temp, 1
    vslidedown.vx v16, \acc, temp
    vsetvli zero, temp, e16, m8, ta, ma
    vadd.vv \acc, \acc, v16
    addi temp_1, temp, -32
    bnez temp_1, .Lhalf\@
.endm

.macro store_sums part
    addi x_at, slot, (\part) * SLOTS_BYTES - 1536
    bgtz longer, .Llong\@
    vsetvli temp, zero, e16, m4, ta, ma
    vadd.vv v0, v0, v4
    vadd.vv v4, v8, v12
    bltz longer, .Lfolded\@
    vsetvli temp, zero, e16, m2, ta, ma
    vadd.vv v0, v0, v2
    vadd.vv v2, v4, v6
    vs4r.v v0, (x_at)
    j .Lstored\@
.Llong\@:
    fold_halves acc_a
    fold_halves acc_b
    vse16.v acc_a, (x_at)
    addi x_at, x_at, 64
    vse16.v acc_b, (x_at)
    j .Lstored\@
.Lfolded\@:
    vs8r.v v0, (x_at)
.Lstored\@:
.endm

/* y = fma((float)isum, scale * x.d, y) for n rows from group on, part \part, with lanes from slot
 * on. If \bits (Q1_0), the bits count twice. If there are several parts, their sums fit int16: 64 *
 * 3 * 128. */
.macro finish part, bits
    addi temp, slot, (\part) * SLOTS_BYTES - 1536
    vsetvli zero, n_pairs, e32, m8, ta, ma
    vle32.v v0, (temp)
    vsetvli zero, zero, e16, m4, ta, ma
    vnsrl.wi v8, v0, 0                 /* columns 0 and 2 */
    vnsrl.wi v12, v0, 16               /* columns 1 and 3 */
    addi temp_1, group, 16 * (\part)
    .if PARTS == 1
    vwadd.vv v0, v8, v12
    vsetvli zero, n_rows, e32, m4, ta, ma
    li temp, 32
    vnsrl.wi v8, v0, 0
    vnsrl.wx v12, v0, temp
    vadd.vv v8, v8, v12
    vsetvli zero, zero, e16, m2, ta, ma
    .else
    vadd.vv v0, v8, v12
    vsetvli zero, n_rows, e16, m2, ta, ma
    vnsrl.wi v4, v0, 0
    vnsrl.wi v6, v0, 16
    vadd.vv v4, v4, v6
    lw temp, FRAME_SUMS + 4*(\part)(sp)
    .if \bits == 1
    vadd.vv v4, v4, v4
    .endif
    vwsub.vx v8, v4, temp
    .endif
    vluxei32.v v4, (temp_1), v20
    vwmul.vx v12, v4, shift_up         /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m4, ta, ma
    vand.vx v12, v12, sign_bits
    .if PARTS == 1
    lw temp, FRAME_SUMS(sp)
    vsub.vx v8, v8, temp
    .endif
    vfmul.vf v12, v12, scale_up
    vfcvt.f.x.v v8, v8
    vfmul.vf v12, v12, act_scale
    vfmacc.vv v16, v8, v12
.endm

/* Compute y of the tile's rows from the lanes of all their groups. */
.macro finish_tile bits
    mv group, tile_block
    mv out, dst
    li slot, FRAME_SLOTS + 1536
    add slot, slot, sp
    mv left, tile_rows
    mv n_rows, max_rows
    li sign_bits, F16_SIGN_MAGNITUDE
    li temp, FRAME_OFFSETS
    add temp, temp, sp
    vsetvli zero, max_rows, e32, m4, ta, ma
    vle32.v v20, (temp)
.Lrows\@:
    bgeu left, max_rows, .Lfull\@
    mv n_rows, left
.Lfull\@:
    slli n_pairs, n_rows, 1
    vsetvli zero, n_rows, e32, m4, ta, ma
    vle32.v v16, (out)
    .irp part, 0, 1, 2, 3
    .if \part < PARTS
    finish \part, \bits
    .endif
    .endr
    vse32.v v16, (out)
    slli temp, n_rows, 2
    add out, out, temp
    slli temp, n_rows, 3               /* 64 bytes of lanes for 8 rows */
    add slot, slot, temp
    srli temp, n_rows, 3
    mul temp, temp, row_bytes
    add group, group, temp
    sub left, left, n_rows
    bnez left, .Lrows\@
.endm

/* Set lanes, longer and wide. */
.macro measure_lanes
    csrr longer, vlenb
    addi longer, longer, -32
    li temp, RUN_BYTES
    vsetvli lanes, temp, e8, m4, ta, ma
    slli wide, lanes, 1
    bleu wide, temp, .Lwide\@
    mv wide, zero
.Lwide\@:
.endm

/* Set max_rows, the number of rows that finish_tile takes at a time, and store the offsets of their
 * scales from those of the first group. */
.macro measure_finish
    li temp, TILE
    vsetvli max_rows, zero, e32, m4, ta, ma
    bleu max_rows, temp, .Lwithin\@
    mv max_rows, temp
.Lwithin\@:
    vid.v v0
    vsrl.vi v4, v0, 3
    vmul.vx v4, v4, row_bytes
    vand.vi v0, v0, 7
    vadd.vv v4, v4, v0
    vadd.vv v4, v4, v0
    li temp, FRAME_OFFSETS
    add temp, temp, sp
    vsetvli zero, max_rows, e32, m4, ta, ma
    vse32.v v4, (temp)
.endm

.macro groups_tq2
    first_pass RUN_BYTES, vand.vi, 12
    shift_sums 2
    pass_tq2
    store_sums 0
.endm

.macro groups_q2
    first_pass 0, vand.vi, 3
    store_sums 0
    first_pass RUN_BYTES, vand.vi, 12
    shift_sums 2
    store_sums 1
    first_pass 2 * RUN_BYTES, vsrl.vi, 4, 3
    store_sums 2
    first_pass 3 * RUN_BYTES, vsrl.vi, 6
    store_sums 3
.endm

/* Higher fields come first: the sum of the field at bit 2 in a lane is at most 64 * 128 * 4. */
.macro groups_q1
    first_pass 3 * RUN_BYTES, vand.vi, 8
    shift_sums 1
    next_pass 2 * RUN_BYTES, vand.vi, 4
    shift_sums 1
    next_pass RUN_BYTES, vand.vi, 2
    shift_sums 1
    next_pass 0, vand.vi, 1
    store_sums 0
    li mask, 64
    first_pass 6 * RUN_BYTES, vand.vx, mask
    shift_sums 1
    li mask, 32
    next_pass 5 * RUN_BYTES, vand.vx, mask
    shift_sums 1
    li mask, 16
    next_pass 4 * RUN_BYTES, vand.vx, mask
    shift_sums 4
    next_pass 7 * RUN_BYTES, vsrl.vi, 7
    store_sums 1
.endm

/* Compute y of all rows; \groups_macro processes two groups of a block. */
.macro token_rows groups_macro, bits
    measure_lanes
    measure_finish
.Ltile:
    beqz rows_left, .Lend_rows
    li temp, TILE
    mv tile_rows, rows_left
    bleu tile_rows, temp, .Lzero
    mv tile_rows, temp
.Lzero:
    mv out, dst
    mv left, tile_rows
.Lzero_some:
    vsetvli temp, left, e32, m8, ta, ma
    vmv.v.i v0, 0
    vse32.v v0, (out)
    slli temp_1, temp, 2
    sub left, left, temp
    add out, out, temp_1
    bnez left, .Lzero_some
    mv act, act_start
    mv tile_block, weights
    beq act, act_end, .Lnext_tile
.Lblock:
    spread_x
    sum_parts
    mv group, tile_block
    li slot, FRAME_SLOTS + 1536
    add slot, slot, sp
    mv left, tile_rows
.Lpair:
    mv group_b, group                  /* an odd last group has no second one */
    li temp, 8
    bleu left, temp, .Lalone
    add group_b, group, row_bytes
.Lalone:
    addi weights_end, group, 16 * PARTS + RUN_BYTES
    \groups_macro
    add group, group_b, row_bytes
    addi slot, slot, 128
    addi left, left, -16
    bgtz left, .Lpair
    finish_tile \bits
    addi tile_block, tile_block, BLOCK_BYTES
    addi act, act, Q8K_BYTES
    bne act, act_end, .Lblock
.Lnext_tile:
    slli temp, row_bytes, 4            /* TILE / 8 groups */
    add weights, weights, temp
    slli temp, tile_rows, 2
    add dst, dst, temp
    sub rows_left, rows_left, tile_rows
    j .Ltile
.Lend_rows:
.endm

.macro gemv_few name, groups_macro, bits
func \name, v
    enter_frame
    measure a4
    token_rows \groups_macro, \bits
    leave_frame
    ret
endfunc
.endm

#endif
