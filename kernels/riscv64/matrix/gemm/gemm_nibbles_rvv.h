/* Shared by the RVV gemms of Q4_0 and Q4_1. A kernel that includes this defines BLOCK_BYTES and
 * QUANTS_AT, which describe a group's block, and MINS_AT if there are minima.
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft3, every vector register; 4.9 KiB of
 * stack, 5.4 with minima.
 *
 * Works as in gemm_rvv.h, with tiles of 64 rows at VLEN 128 and of 128 rows at larger VLEN. The
 * scratch holds 8 - nibble, not nibble - 8. 32 products of -7 to 8 and -128 to 127 are in -32768 to
 * 32512, so a block is summed in int16, and the bias of Q4_0 needs no separate term. Because the
 * scratch has 8 - nibble, the scales of Q4_0 are negated; this changes no bit, because acc is
 * never -0. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_NIBBLES_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_NIBBLES_RVV_H

#define TILE 128           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 32    /* columns that are summed before they are folded */
#include "kernels/riscv64/matrix/gemm/gemm_32_rvv.h"

#define low_bytes s6   /* of rows_low floats */
#define tile_scales s8 /* float [TILE] */
#define spill s9       /* int16 [TILE] */
#define pair_bytes s10 /* bytes of two columns of the scratch */
#define sign_bits s11  /* F16_SIGN_MAGNITUDE */
#ifdef MINS_AT
#define scale_up ft0   /* 2^112 */
#define act_sum ft2    /* x.sum times x.d */
#define act_bias ft3   /* 8 x.sum */
#else
#define scale_up ft0   /* -2^112 */
#endif

#define dots_a_high v4
#define floats v8      /* used as m8 when a token is finished */
#define products v16
#define sums v24

#define SCALES_AT (32 * TILE)
#ifdef MINS_AT
#define TILE_MINS (4 * TILE) /* from tile_scales */
#define SPILL_AT (SCALES_AT + 8 * TILE)
#else
#define SPILL_AT (SCALES_AT + 4 * TILE)
#endif
#define LOCALS (SPILL_AT + 2 * TILE)

/* Decode the block at temp_1, of one group of 8 rows, to its position in the scratch, to which out
 * and column_at point. */
.macro decode_group scale_out
    vsetivli zero, 8, e16, m1, ta, ma
    vle16.v v24, (temp_1)
#ifdef MINS_AT
    addi temp, temp_1, MINS_AT
    vle16.v v25, (temp)
#endif
    addi temp_1, temp_1, QUANTS_AT
    li temp, 32
    vsetvli zero, temp, e32, m8, ta, ma
    vle32.v v16, (temp_1)
    part_columns temp
    vsetvli temp, zero, e8, m8, ta, ma /* all four columns at once */
    vand.vi v8, v0, 15
    vsrl.vi v16, v0, 4
    vrsub.vi v8, v8, 8
    vrsub.vi v16, v16, 8
    slli temp, pair_bytes, 1
    srli temp_1, pair_bytes, 1
    vsetivli zero, 4, e64, m2, ta, ma  /* 8 rows of columns f, f + 4, f + 8, f + 12 */
    store_columns v8, v10, v12, v14, temp_1
    slli column_at, pair_bytes, 3      /* 16 columns */
    add column_at, column_at, out
    store_columns v16, v18, v20, v22, temp_1
    vsetivli zero, 8, e16, m1, ta, ma
    li temp, 1 << 13
    vwmul.vx v26, v24, temp            /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx v26, v26, sign_bits
    vfmul.vf v26, v26, scale_up
    vse32.v v26, (\scale_out)
#ifdef MINS_AT
    vsetvli zero, zero, e16, m1, ta, ma
    li temp, 1 << 13
    vwmul.vx v26, v25, temp
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx v26, v26, sign_bits
    addi temp, \scale_out, TILE_MINS
    vfmul.vf v26, v26, scale_up
    vse32.v v26, (temp)
#endif
.endm

/* y += (float)dots * (scales * act_scale) for half of the tile's rows, y at \y. If there are
 * minima, 8 x.sum minus the dots gives the dots of the nibbles. */
.macro finish_half dots, half_rows, y, scales_at
    vsetvli zero, \half_rows, e16, m4, ta, ma
    vfwcvt.f.x.v floats, \dots
    vsetvli zero, zero, e32, m8, ta, ma
    vle32.v products, (\scales_at)
    vle32.v sums, (\y)
#ifdef MINS_AT
    vfrsub.vf floats, floats, act_bias
    addi column_at, \scales_at, TILE_MINS
#endif
    vfmul.vf products, products, act_scale
    vfmacc.vv sums, floats, products
#ifdef MINS_AT
    vle32.v products, (column_at)
    vfmacc.vf sums, act_sum, products
#endif
    vse32.v sums, (\y)
.endm

/* Finish the token whose dots are in dots_a and whose y is at out. */
.macro finish
    finish_half dots_a, rows_low, out, tile_scales
    beqz rows_high, .Lfinished\@
    add temp, out, low_bytes
    add temp_1, tile_scales, low_bytes
    finish_half dots_a_high, rows_high, temp, temp_1
.Lfinished\@:
.endm

.macro finish_first
    vsetvli zero, zero, e16, m8, ta, ma
    vse16.v dots_b, (spill)
    finish
.endm

.macro finish_second
    vsetvli zero, rows, e16, m8, ta, ma
    vle16.v dots_a, (spill)
    add out, out, y_stride
    finish
.endm

.macro take_tile
    take_tile_rows
    slli low_bytes, rows_low, 2
    mv out, dst
    mv tokens_left, n_tokens
    add temp_1, dst, low_bytes
    clear_halves sums
.endm

.macro decode_tile
    mv out, scratch                    /* column 0 of the group */
    mv act, tile_scales
    mv tokens_left, rows
    mv step, group_at
.Lgroup\@:
    mv column_at, out
    mv temp_1, step
    decode_group act
    addi out, out, 8
    addi act, act, 32
    add step, step, row_bytes
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
.endm

.macro start_constants
#ifdef MINS_AT
    load_float scale_up, F32_2P112, temp
#else
    load_float scale_up, F32_MINUS_2P112, temp
#endif
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

#ifdef MINS_AT
/* Three numbers of a token: its scale, the sum of its x times the scale, and 8 times the sum. */
.macro scale_with_sum at
    scale_32 \at
    lw temp, Q8X4_SUM + \at(act)
    fcvt.s.w act_sum, temp
    slli temp, temp, 3
    fmul.s act_sum, act_sum, act_scale
    fcvt.s.w act_bias, temp
.endm
#endif

/* Body of a gemm. */
.macro gemm_nibbles
    enter_frame LOCALS
    mv scratch, sp
    li temp, SCALES_AT
    add tile_scales, sp, temp
    li temp, SPILL_AT
    add spill, sp, temp
    load_shape COLS_LOG2, BLOCK_BYTES, Q8X4_BYTES
    add act_end, act_start, group_bytes
    measure_columns pair_bytes
#ifdef MINS_AT
    gemm_loops_32 BLOCK_BYTES, e8, load_scale=scale_with_sum, eight=pair_bytes
#else
    gemm_loops_32 BLOCK_BYTES, e8, eight=pair_bytes
#endif
    leave_frame LOCALS
    ret
.endm

#endif
