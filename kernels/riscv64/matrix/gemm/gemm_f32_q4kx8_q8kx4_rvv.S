/* void gemm_f32_q4kx8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                               const struct block_q8kx4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 8.0 KiB
 * of stack.
 *
 * As gemm_rvv.h says, with tiles of 64 rows, a sub-block of 32 columns at a time. The scratch holds
 * nibble - 7: 32 products of -7 .. 8 and -128 .. 127 lie in -32768 .. 32512, so that a sub-block
 * sums in int16, and 7 times the sum of its activations is missing. It goes with the sub-block's
 * scale into the int32 sums of 16 tokens, which wait in the scratch for the next sub-block; after
 * 8 of them come the mins and y.
 *
 * For 8 rows, 32 columns and a token: 20 instructions at VLEN 128, 16 at 256, of which decoding
 * is 3.5. */
#define TILE 64           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 32    /* that are summed up before they are folded */
/* The scratch, from SCALE_AT on: the scales of these columns, int16 [TILE]; then */
#define SCALES_AT (SCALE_AT + 2 * TILE)      /* uint8 [8][TILE] */
#define MINS_AT (SCALES_AT + 8 * TILE)       /* uint8 [8][TILE] */
#define D_AT (MINS_AT + 8 * TILE)            /* float [TILE] */
#define DMIN_AT (D_AT + 4 * TILE)            /* float [TILE] */
#define SUMS_AT (DMIN_AT + 4 * TILE)         /* int16 [TOKENS / 2][8][2]: of activations */
#define LOCALS (SUMS_AT + 16 * TOKENS)

#include "kernels/riscv64/matrix/gemm/gemm_mins_rvv.h"

.macro decode_scales
    decode_six_bits
.endm

/* Half of a sub-block, 16 columns from act on, of one group to column_at. temp_1 shifts the
 * nibbles down. */
.macro decode_half
    li temp, 128
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v16, (act)
    vsrl.vx v16, v16, temp_1
    vand.vi v16, v16, 15
    vadd.vi v16, v16, -7
    part_columns temp
    li temp, 4 * TILE
    vsetivli zero, 4, e64, m2, ta, ma  /* 8 rows of columns f, f + 4, f + 8, f + 12 */
    store_columns v0, v2, v4, v6
.endm

/* Weights of the tile's sub-block, and its scales as int16. */
.macro decode_part
    srli temp, part, 1
    slli temp, temp, 8
    add act, group_at, temp
    addi act, act, Q4K_QUANTS
    andi temp_1, part, 1
    slli temp_1, temp_1, 2
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
    slli temp_1, part, 6               /* TILE */
    scratch temp, SCALES_AT
    add temp_1, temp_1, temp
    vsetvli zero, rows, e16, m8, ta, ma
    vle8.v v0, (temp_1)
    vzext.vf2 v8, v0
    vse16.v v8, (scale_at)
.endm

/* The chunk's sums of activations by 32, and zeros to its int32 sums. */
.macro begin_chunk
    addi act, chunk_act, Q8KX4_SUM
    scratch out, SUMS_AT
    li temp, 16
    mv tokens_left, chunk_tokens
.Ltokens\@:
    vsetivli zero, 8, e64, m4, ta, ma
    vlse64.v v0, (act), temp           /* of 16 columns, four tokens; then of the next 16 */
    addi temp_1, act, 8
    vlse64.v v4, (temp_1), temp
    li temp_1, 32
    vsetvli zero, temp_1, e16, m4, ta, ma
    vadd.vv v0, v0, v4
    vsetivli zero, 8, e32, m2, ta, ma
    vnsrl.wi v4, v0, 0
    vnsrl.wx v6, v0, temp_1
    vse32.v v4, (out)
    addi out, out, 32
    vse32.v v6, (out)
    addi out, out, 32
    add act, act, group_bytes
    addi tokens_left, tokens_left, -4
    bgtz tokens_left, .Ltokens\@
    clear_sums
.endm

/* acc += scale * (dots + 7 * sum), at temp, for half of the tile's rows; temp_1 has 7 * sum,
 * column_at points to the scales. */
.macro combine_half dots, half_rows
    vsetvli zero, \half_rows, e16, m4, ta, ma
    vle16.v v24, (column_at)
    vle32.v v16, (temp)
    vwmacc.vv v16, \dots, v24
    vwmacc.vx v16, temp_1, v24
    vse32.v v16, (temp)
.endm

/* dots_high is the second half of \dots; \token 0 or 1 of the pair. */
.macro combine dots, dots_high, token
    lh temp, 2*\token(out)
    mv column_at, scale_at
    slli temp_1, temp, 3
    sub temp_1, temp_1, temp
    addi temp, acc, 4 * TILE * \token
    combine_half \dots, rows_low
    beqz rows_high, .Lcombined\@
    slli column_at, rows_low, 2
    add temp, temp, column_at
    srli column_at, column_at, 1
    add column_at, column_at, scale_at
    combine_half \dots_high, rows_high
.Lcombined\@:
.endm

.macro multiply_pair eight, at_once
    begin_columns \at_once
    .irp first, 0, 4, 8, 12, 16, 20, 24, 28
    four_columns \first, \eight, \at_once
    .endr
    combine dots_a, v4, 0
    combine dots_b, v12, 1
.endm

/* y = fma(-imin, dmin * x.d, fma(isum, d * x.d, y)) for the half of the rows that begins at row
 * temp; y is at chunk_out. */
.macro finish_half token, half_rows
    scratch column_at, MINS_AT
    add column_at, column_at, temp
    slli temp, temp, 2
    vsetvli zero, \half_rows, e16, m4, ta, ma
    .irp j, 0, 1, 2, 3, 4, 5, 6, 7
    vle8.v v24, (column_at)
    lh temp_1, 4*\j + 2*\token(out)
    addi column_at, column_at, TILE
    vzext.vf2 v28, v24
    .if \j == 0
    vwmul.vx v0, v28, temp_1
    .else
    vwmacc.vx v0, temp_1, v28
    .endif
    .endr
    vsetvli zero, zero, e32, m8, ta, ma
    scratch column_at, D_AT
    add column_at, column_at, temp
    add temp_1, acc, temp
    add temp, temp, chunk_out
    vle32.v v8, (temp_1)
    vle32.v v16, (column_at)
    vle32.v v24, (temp)
    vfcvt.f.x.v v8, v8
    vfmul.vf v16, v16, act_scale
    vfcvt.f.x.v v0, v0
    vfmacc.vv v24, v8, v16
    addi column_at, column_at, DMIN_AT - D_AT
    vle32.v v16, (column_at)
    vfmul.vf v16, v16, act_scale
    vfnmsac.vv v24, v0, v16
    vse32.v v24, (temp)
.endm

.macro second_half
    mv temp, rows_low
.endm

func gemm_f32_q4kx8_q8kx4_rvv, v
    enter_frame LOCALS
    scratch scale_at, SCALE_AT
    load_shape COLS_K_LOG2, Q4K_BYTES, Q8KX4_BYTES
    load_float scale_up, F32_2P112, temp
    gemm_loops_k Q4K_BYTES, SUMS_AT, whole=1
    leave_frame LOCALS
    ret
endfunc
