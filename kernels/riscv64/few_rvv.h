/* gemv and gemm of TQ2_0, Q2_0 and Q1_0 for RVV, one token after the other, at any VLEN.
 *
 * A lane is a byte of weights: 4 columns of 8 rows follow each other, and again. x of a block is
 * spread once for up to 128 rows to the same places, on the stack, so that what fills four
 * registers of weights is loaded, taken apart and multiplied at once. The products of a part that
 * has a scale stay in int16: 64 of a lane, at most 64 * 3 * 128 = 24576. Then lanes fold, upper
 * half onto lower, to 32: the 4 columns of 8 rows.
 *
 * A kernel that includes this has defined ACT_BYTES, ACT_D and ACT_SUM, of a block of x; ACT_STEP,
 * from 4 columns of a token to its next; ACT_SUM_STEP; and BLOCK_BYTES and PARTS, of weights. */
#ifndef INGOT_KERNELS_RISCV64_FEW_RVV_H
#define INGOT_KERNELS_RISCV64_FEW_RVV_H

#include "kernels/riscv64/asm.h"

#define dst a0
#define weights a1     /* the tile's first group, block 0 */
#define act_start a2
#define rows_left a3
#define act_end a4
#define row_bytes a5   /* of one group of 8 rows */
#define sum_shift a6   /* from act to where the sums of its token are counted from */
#define sign_bits a7   /* F16_SIGN_MAGNITUDE */
#define group t0
#define weights_at t1
#define x_at t2
#define out t3
#define left t4        /* rows of the tile */
#define temp t5
#define temp_1 t6
#define act s0
#define tile_block s1
#define tile_rows s2
#define lanes s3       /* of a step */
#define weights_end s4
#define rows_now s5    /* of the group */
#define shift_up s6    /* 2^13 */
#define half s7        /* 32: of a doubleword */
#define tokens_left s8
#define token s9
#define shape s10
#define lane s11       /* of the token in its four */
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define TILE 128       /* rows */
/* The frame: what a gemm keeps, x of a block, its sums by part. */
#define FRAME_DST 0
#define FRAME_WEIGHTS 8
#define FRAME_ACT 16
#define FRAME_X 32
#define FRAME_SUMS (FRAME_X + 2048)
#define LOCALS (FRAME_SUMS + 16)

.macro enter_frame
    push ALL_SAVED_BYTES, ALL_SAVED
    li temp, LOCALS
    sub sp, sp, temp
    .cfi_adjust_cfa_offset LOCALS
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    li shift_up, 1 << 13
    li half, 32
.endm

.macro leave_frame
    li temp, LOCALS
    add sp, sp, temp
    .cfi_adjust_cfa_offset -LOCALS
    pop ALL_SAVED_BYTES, ALL_SAVED
.endm

/* row_bytes and act_end for \cols columns, which is destroyed. */
.macro measure cols
    srli \cols, \cols, COLS_K_LOG2
    li row_bytes, BLOCK_BYTES
    li temp, ACT_BYTES
    mul row_bytes, row_bytes, \cols
    mul temp, temp, \cols
    add act_end, act_start, temp
.endm

/* Each word of x, 4 columns, to 8 words at sp. */
.macro spread_x
    li temp, 512
    vsetvli lanes, temp, e32, m8, ta, ma
    vid.v v0
    vsrl.vi v0, v0, 3
    .if ACT_STEP == 16
    vsll.vi v0, v0, 4
    .else
    vsll.vi v0, v0, 2
    .endif
    mv x_at, act
    addi out, sp, FRAME_X
    srli temp_1, lanes, 3              /* words of x */
    .if ACT_STEP == 16
    slli temp_1, temp_1, 4
    .else
    slli temp_1, temp_1, 2
    .endif
.Lspread:
    vluxei32.v v8, (x_at), v0
    vse32.v v8, (out)
    add x_at, x_at, temp_1
    slli weights_at, lanes, 2
    add out, out, weights_at
    sub temp, temp, lanes
    bnez temp, .Lspread
.endm

/* The sums of x of the parts after it. */
.macro sum_parts
    flw act_scale, ACT_D(act)
    add x_at, act, sum_shift
    addi out, sp, 1024
    .irp part, 0, 1, 2, 3
    .if \part < PARTS
    lh temp, ACT_SUM + (\part)*(16/PARTS)*ACT_SUM_STEP(x_at)
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \n < 16/PARTS
    lh temp_1, ACT_SUM + ((\part)*(16/PARTS)+\n)*ACT_SUM_STEP(x_at)
    add temp, temp, temp_1
    .endif
    .endr
    sw temp, FRAME_SUMS - 1024 + 4*(\part)(out)
    .endif
    .endr
.endm

/* v0 += field \k of the weights in v8, of \bits, by x, which \run bytes have for a field. */
.macro field k, bits, run, sum=v0
    .if (\k) == 0
    vand.vi v12, v8, (1 << \bits) - 1
    vle8.v v16, (x_at)
    .else
    vsrl.vi v12, v8, (\k) * \bits
    addi temp, x_at, ((\k) * \run) % 1024
    .if (\k) * \bits + \bits < 8
    vand.vi v12, v12, (1 << \bits) - 1
    .endif
    .if (\k) * \run >= 1024
    addi temp, temp, 1024
    .endif
    vle8.v v16, (temp)
    .endif
    vwmaccsu.vv \sum, v16, v12
.endm

/* v0 = int16 sums of fields \first to \last. */
.macro part_sums first, last, bits, run
    addi weights_at, group, 16 * PARTS
    addi x_at, sp, FRAME_X
    li temp, \run
    addi weights_end, weights_at, \run
    vsetvli lanes, temp, e8, m4, ta, ma
    vsetvli zero, lanes, e16, m8, ta, ma
    vmv.v.i v0, 0
    vsetvli zero, lanes, e8, m4, ta, ma
.Lstep\@:
    vle8.v v8, (weights_at)
    add weights_at, weights_at, lanes
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7
    .if \k >= \first && \k <= \last
    field \k, \bits, \run
    .endif
    .endr
    add x_at, x_at, lanes
    bne weights_at, weights_end, .Lstep\@
.endm

/* v0, v24 = int16 sums of the fields \first and after it, of two bits. */
.macro two_part_sums first
    addi weights_at, group, 16 * PARTS
    addi x_at, sp, FRAME_X
    li temp, 512
    addi weights_end, weights_at, 512
    vsetvli lanes, temp, e8, m4, ta, ma
    vsetvli zero, lanes, e16, m8, ta, ma
    vmv.v.i v0, 0
    vmv.v.i v24, 0
    vsetvli zero, lanes, e8, m4, ta, ma
.Lstep\@:
    vle8.v v8, (weights_at)
    add weights_at, weights_at, lanes
    field \first, 2, 512
    field (\first + 1), 2, 512, v24
    add x_at, x_at, lanes
    bne weights_at, weights_end, .Lstep\@
.endm

/* The second of them to v0, after finish. */
.macro next_part
    li temp, 512
    vsetvli lanes, temp, e8, m4, ta, ma
    vmv8r.v v0, v24
.endm

/* y = fma((float)isum, scale * x.d, y) of part \part, whose sums v0 has. */
.macro finish part, bits
    li temp, 32
    beq lanes, temp, .Lfolded\@
    vsetvli zero, lanes, e16, m8, ta, ma
.Lfold\@:
    srli lanes, lanes, 1
    vslidedown.vx v8, v0, lanes
    vsetvli zero, lanes, e16, m8, ta, ma
    vadd.vv v0, v0, v8
    bne lanes, temp, .Lfold\@
.Lfolded\@:
    vsetivli zero, 16, e16, m2, ta, ma
    vnsrl.wi v8, v0, 0                 /* columns 0 and 2 */
    vnsrl.wi v12, v0, 16               /* columns 1 and 3 */
    addi temp, group, 16 * (\part)
    vwadd.vv v16, v8, v12
    vsetivli zero, 8, e32, m2, ta, ma
    vnsrl.wi v8, v16, 0
    vnsrl.wx v10, v16, half
    addi temp_1, sp, 1024
    lw temp_1, FRAME_SUMS - 1024 + 4*(\part)(temp_1)
    vadd.vv v8, v8, v10
    .if \bits == 1
    vadd.vv v8, v8, v8
    .endif
    vsub.vx v8, v8, temp_1
    vfcvt.f.x.v v8, v8
    vsetivli zero, 8, e16, m1, ta, ma
    vle16.v v12, (temp)
    vwmul.vx v14, v12, shift_up        /* sign-extended and shifted left by 13 */
    vsetvli zero, rows_now, e32, m2, ta, ma
    vand.vx v14, v14, sign_bits
    vle32.v v16, (out)
    vfmul.vf v14, v14, scale_up
    vfmul.vf v14, v14, act_scale
    vfmacc.vv v16, v8, v14
    vse32.v v16, (out)
.endm

.macro group_tq2
    part_sums 0, 3, 2, 512
    finish 0, 2
.endm

.macro group_q2
    two_part_sums 0
    finish 0, 2
    next_part
    finish 1, 2
    two_part_sums 2
    finish 2, 2
    next_part
    finish 3, 2
.endm

.macro group_q1
    part_sums 0, 3, 1, 256
    finish 0, 1
    part_sums 4, 7, 1, 256
    finish 1, 1
.endm

/* y of all rows for one token; \group is the macro for 8 rows of a block. */
.macro token_rows group_macro
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
    mv out, dst
    mv left, tile_rows
.Lgroup:
    li rows_now, 8
    bgeu left, rows_now, .Lwhole
    mv rows_now, left
.Lwhole:
    \group_macro
    add group, group, row_bytes
    addi out, out, 32
    sub left, left, rows_now
    bnez left, .Lgroup
    addi tile_block, tile_block, BLOCK_BYTES
    addi act, act, ACT_BYTES
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

.macro gemv_few name, group_macro
func \name, v
    enter_frame
    mv sum_shift, zero
    measure a4
    token_rows \group_macro
    leave_frame
    ret
endfunc
.endm

/* Arguments of a gemm: a3 is its shape. */
.macro gemm_few name, group_macro
func \name, v
    enter_frame
    mv shape, a3
    ld tokens_left, SHAPE_TOKENS(shape)
    mv token, zero
    beqz tokens_left, .Ldone
.Ltoken:
    ld rows_left, SHAPE_ROWS(shape)
    ld temp_1, SHAPE_COLS(shape)
    measure temp_1
    sd dst, FRAME_DST(sp)
    sd weights, FRAME_WEIGHTS(sp)
    sd act_start, FRAME_ACT(sp)
    andi lane, token, 3
    slli temp, lane, 2
    add act_start, act_start, temp
    add act_end, act_end, temp
    slli temp, lane, 1
    sub sum_shift, zero, temp
    token_rows \group_macro
    ld dst, FRAME_DST(sp)
    ld weights, FRAME_WEIGHTS(sp)
    ld act_start, FRAME_ACT(sp)
    ld temp, SHAPE_Y_STRIDE(shape)
    slli temp, temp, 2
    add dst, dst, temp
    addi token, token, 1
    andi temp, token, 3
    bnez temp, .Lsame_four
    ld temp_1, SHAPE_COLS(shape)
    srli temp_1, temp_1, COLS_K_LOG2
    li temp, ACT_BYTES
    mul temp, temp, temp_1
    add act_start, act_start, temp
.Lsame_four:
    addi tokens_left, tokens_left, -1
    bnez tokens_left, .Ltoken
.Ldone:
    leave_frame
    ret
endfunc
.endm

#endif
