/* Shared by the RVV gemms of Q6_K and Q3_K. A kernel that includes this defines locate_part (act =
 * the bytes of the 32 columns number `part` of group_at, act + step the other bits of them),
 * decode_half (16 columns from there, of one group to column_at) and multiply_pair. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_Q6K_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_Q6K_RVV_H

#include "kernels/riscv64/gemm_k_rvv.h"

#define scale_up ft0   /* 2^112, of Q6_K negative */

/* The scratch, from SCALE_AT on: the scales of these columns, int16 [2][TILE]; then */
#define SCALES_AT (SCALE_AT + 4 * TILE)      /* int8 [16][TILE] */
#define D_AT (SCALES_AT + 16 * TILE)         /* float [TILE] */
#define LOCALS (D_AT + 4 * TILE)

/* Scales and d of the tile's block. */
.macro decode_scales
    mv act, group_at
    mv tokens_left, rows
    scratch out, SCALES_AT
    scratch step, D_AT
.Lgroup\@:
    addi temp_1, act, Q6K_SCALES
    li temp, TILE
    vsetivli zero, 16, e64, m8, ta, ma
    vle64.v v0, (temp_1)
    vsse64.v v0, (out), temp
    addi out, out, 8
    vsetivli zero, 8, e16, m1, ta, ma
    vle16.v v0, (act)
    li temp, 1 << 13
    vwmul.vx v4, v0, temp              /* sign-extended and shifted left by 13 */
    li temp, F16_SIGN_MAGNITUDE
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx v4, v4, temp
    vfmul.vf v4, v4, scale_up
    vse32.v v4, (step)
    addi step, step, 32
    add act, act, row_bytes
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
.endm

/* Weights of 32 columns of the tile, and the scales of their two sub-blocks as int16. */
.macro decode_part
    locate_part
    mv out, sp
    mv tokens_left, rows
.Lgroup\@:
    mv column_at, out
    decode_half
    addi act, act, 128
    addi column_at, column_at, 13 * TILE
    decode_half
    addi act, act, -128
    add act, act, row_bytes
    addi out, out, 8
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
    slli temp_1, part, 7               /* 2 * TILE */
    scratch temp, SCALES_AT
    add temp_1, temp_1, temp
    vsetvli zero, rows, e16, m8, ta, ma
    vle8.v v0, (temp_1)
    addi temp_1, temp_1, TILE
    vle8.v v4, (temp_1)
    vsext.vf2 v8, v0
    vsext.vf2 v16, v4
    vse16.v v8, (scale_at)
    addi temp, scale_at, 2 * TILE
    vse16.v v16, (temp)
.endm

/* acc += scale * dots, acc at temp and scales at temp_1, for half of the tile's rows. */
.macro combine_half dots, half_rows
    vsetvli zero, \half_rows, e16, m4, ta, ma
    vle16.v v24, (temp_1)
    vle32.v v16, (temp)
    vwmacc.vv v16, \dots, v24
    vse32.v v16, (temp)
.endm

/* dots_high is the second half of \dots; \token 0 or 1 of the pair; scales at out. */
.macro combine dots, dots_high, token
    mv temp_1, out
    addi temp, acc, 4 * TILE * \token
    combine_half \dots, rows_low
    beqz rows_high, .Lcombined\@
    slli temp_1, rows_low, 2
    add temp, temp, temp_1
    slli temp_1, rows_low, 1
    add temp_1, temp_1, out
    combine_half \dots_high, rows_high
.Lcombined\@:
.endm

/* y = fma(isum, d * x.d, y) for the half of the rows that begins temp bytes after the first; y is
 * at chunk_out. */
.macro finish_half token, half_rows
    vsetvli zero, \half_rows, e32, m8, ta, ma
    scratch column_at, D_AT
    add column_at, column_at, temp
    add temp_1, acc, temp
    add temp, temp, chunk_out
    vle32.v v8, (temp_1)
    vle32.v v16, (column_at)
    vle32.v v24, (temp)
    vfcvt.f.x.v v8, v8
    vfmul.vf v16, v16, act_scale
    vfmacc.vv v24, v8, v16
    vse32.v v24, (temp)
.endm

.macro second_half
    slli temp, rows_low, 2
.endm

.macro begin_chunk
    clear_sums
.endm

#endif
