/* void gemm_f32_q6kx8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                               const struct block_q8kx4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 7.7 KiB
 * of stack.
 *
 * As gemm_rvv.h says, with tiles of 64 rows, 32 columns (two sub-blocks) at a time. The scratch
 * holds 32 - q: 8 products of -31 .. 32 and -128 .. 127 lie in -32768 .. 32512, so that 8 columns
 * sum in int16, before they go with the sub-block's scale into the int32 sums of 16 tokens, which
 * wait in the scratch. The scales of the block are negated in return, which changes no bit: y is
 * never -0.
 *
 * For 8 rows, 32 columns and a token: 27 instructions at VLEN 128, 22.5 at 256, of which decoding
 * is 4. */
#define TILE 64           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 8    /* that are summed up before they are folded */
#include "kernels/riscv64/gemm_k_rvv.h"

#define scale_up ft0   /* -2^112 */

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

/* 16 columns from act on, high bits at act + step, of one group to column_at. */
.macro decode_half
    li temp, 128
    add temp_1, act, step
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v16, (act)
    vle8.v v24, (temp_1)
    slli temp, part, 2
    slli temp_1, part, 1
    vsrl.vx v16, v16, temp             /* by 0 or 4: the shift is taken modulo 8 */
    vsrl.vx v24, v24, temp_1           /* by 0, 2, 4, 6 */
    vand.vi v16, v16, 15
    li temp, 0x30
    vsll.vi v24, v24, 4
    vand.vx v24, v24, temp
    li temp, 32
    vor.vv v16, v16, v24
    vrsub.vx v16, v16, temp
    part_columns temp
    li temp, 4 * TILE
    vsetivli zero, 4, e64, m2, ta, ma  /* 8 rows of columns f, f + 4, f + 8, f + 12 */
    store_columns v0, v2, v4, v6
.endm

/* Weights of 32 columns of the tile, and the scales of their two sub-blocks as int16. */
.macro decode_part
    srli temp, part, 1
    slli temp, temp, 8
    srli temp_1, part, 2
    slli temp_1, temp_1, 8
    add act, group_at, temp
    sub step, temp_1, temp
    addi act, act, Q6K_LOW
    addi step, step, Q6K_HIGH - Q6K_LOW
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

.macro eight_columns c
    vsetvli zero, rows, e8, m4, ta, ma
    four_columns \c
    four_columns (\c) + 4
    addi out, scale_at, (\c) / 16 * 2 * TILE
    combine dots_a, v4, 0
    combine dots_b, v12, 1
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

.macro multiply_pair
    eight_columns 0
    eight_columns 8
    eight_columns 16
    eight_columns 24
.endm

func gemm_f32_q6kx8_q8kx4_rvv, v
    enter_frame LOCALS
    scratch scale_at, SCALE_AT
    load_shape COLS_K_LOG2, Q6K_BYTES, Q8KX4_BYTES
    load_float scale_up, F32_MINUS_2P112, temp
    gemm_loops_k Q6K_BYTES
    leave_frame LOCALS
    ret
endfunc
