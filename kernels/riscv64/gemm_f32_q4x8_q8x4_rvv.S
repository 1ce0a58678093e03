/* void gemm_f32_q4x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 4.9 KiB of
 * stack.
 *
 * As gemm_rvv.h says, with tiles of 64 rows at VLEN 128 and 128 above. The scratch holds 8 -
 * nibble, not nibble - 8: 32 products of -7 .. 8 and -128 .. 127 lie in -32768 .. 32512, so that a
 * block sums in int16 and the bias needs no term of its own. The scales are negated in return,
 * which changes no bit: acc is never -0.
 *
 * For 8 rows, 32 columns and a token: 14 instructions at VLEN 128, 7.5 at 256, of which decoding
 * is 0.6 for 64 tokens. Two tokens a step in registers of m8 and two columns a load
 * take 10 instructions for the columns; four in m4 20. */
#define TILE 128           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 32    /* that are summed up before they are folded */
#include "kernels/riscv64/gemm_32_rvv.h"

#define low_bytes s6   /* of rows_low floats */
#define tile_scales s8 /* float [TILE] */
#define spill s9       /* int16 [TILE] */
#define pair_bytes s10 /* of two columns of the scratch */
#define sign_bits s11  /* F16_SIGN_MAGNITUDE */
#define scale_up ft0   /* -2^112 */

#define dots_a_high v4
#define floats v8      /* m8, when a token is finished */
#define products v16
#define sums v24

#define SCALES_AT (32 * TILE)
#define SPILL_AT (SCALES_AT + 4 * TILE)
#define LOCALS (SPILL_AT + 2 * TILE)

/* The block of one group of 8 rows at temp_1, to its place at column_at, which is out, in the scratch. */
.macro decode_group scale_out
    vsetivli zero, 8, e16, m1, ta, ma
    vle16.v v24, (temp_1)
    addi temp_1, temp_1, QUANTS
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
.endm

/* y += (float)dots * (scales * act_scale) for half of the tile's rows, y at \y. */
.macro finish_half dots, half_rows, y, scales_at
    vsetvli zero, \half_rows, e16, m4, ta, ma
    vfwcvt.f.x.v floats, \dots
    vsetvli zero, zero, e32, m8, ta, ma
    vle32.v products, (\scales_at)
    vle32.v sums, (\y)
    vfmul.vf products, products, act_scale
    vfmacc.vv sums, floats, products
    vse32.v sums, (\y)
.endm

/* The token whose dots are in dots_a, its y at out. */
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
    load_float scale_up, F32_MINUS_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

func gemm_f32_q4x8_q8x4_rvv, v
    enter_frame LOCALS
    mv scratch, sp
    li temp, SCALES_AT
    add tile_scales, sp, temp
    li temp, SPILL_AT
    add spill, sp, temp
    load_shape COLS_LOG2, Q4X8_BYTES, Q8X4_BYTES
    add act_end, act_start, group_bytes
    measure_columns pair_bytes
    gemm_loops_32 Q4X8_BYTES, e8, eight=pair_bytes
    leave_frame LOCALS
    ret
endfunc
