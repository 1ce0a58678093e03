/* void gemm_f32_q4x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 5.2 KiB of
 * stack.
 *
 * As gemm.h says, with tiles of 64 rows at VLEN 128 and 128 above. The scratch holds 8 - nibble,
 * not nibble - 8: 32 products of -7 .. 8 and -128 .. 127 lie in -32768 .. 32512, so that a block
 * sums in int16 and the bias needs no term of its own. The scales are negated in return, which
 * changes no bit: acc is never -0.
 *
 * For 8 rows, 32 columns and a token: 16 instructions at VLEN 128, 8.5 at 256, of which decoding
 * is 0.6 for 64 tokens. Two tokens a step in registers of m8 against four in m4: 12
 * instructions instead of 20 for the columns. */
#include "kernels/riscv64/gemm.h"

#define dst a0         /* the tile's first row, token 0 */
#define weights a1     /* the tile's first group, block 0 */
#define act_start a2
#define rows_left a3
#define n_tokens a4
#define y_stride a5    /* bytes */
#define row_bytes a6   /* of one group of 8 rows */
#define group_bytes a7 /* of four tokens */
#define act_end s0
#define group_at s1    /* the block of the tile's first group */
#define act_block s2   /* the block of the first tokens */
#define rows s3        /* of the tile */
#define rows_low s4    /* as many of them as a group of 8 registers holds in f32 ... */
#define rows_high s5   /* ... and the rest */
#define low_bytes s6   /* of rows_low floats */
#define scratch s7     /* int8 [32][TILE] */
#define scales s8      /* float [TILE] */
#define spill s9       /* int16 [TILE] */
#define tile_max s10
#define sign_bits s11  /* F16_SIGN_MAGNITUDE */
#define act t0
#define out t1
#define tokens_left t2
#define step t3        /* from this pair of tokens to the next */
#define column_at t4
#define temp t5
#define temp_1 t6
#define scale_up ft0   /* -2^112 */
#define act_scale ft1

#define dots_a v0      /* m8, int16: first token */
#define dots_a_high v4
#define dots_b v8      /* m8: second */
#define column_0 v16   /* m4, int8 */
#define column_1 v20
#define floats v8      /* m8, when a token is finished */
#define products v16
#define sums v24

#define TILE 128       /* rows */
#define BLOCK_BYTES 144
#define ACT_BYTES 160
#define ACT_SCALES 128
#define SCALES_AT (32 * TILE)
#define SPILL_AT (SCALES_AT + 4 * TILE)
#define LOCALS (SPILL_AT + 2 * TILE)

/* The block of one group of 8 rows at temp_1, to its place at column_at in the scratch. */
.macro decode_group scale_out
    vsetivli zero, 8, e16, m1, ta, ma
    vle16.v v24, (temp_1)
    addi temp_1, temp_1, 16
    li temp, 32
    vsetvli zero, temp, e32, m8, ta, ma
    vle32.v v16, (temp_1)
    part_columns temp
    vsetvli temp, zero, e8, m8, ta, ma /* all four columns at once */
    vand.vi v8, v0, 15
    vsrl.vi v16, v0, 4
    vrsub.vi v8, v8, 8
    vrsub.vi v16, v16, 8
    li temp, 4 * TILE
    vsetivli zero, 4, e64, m2, ta, ma  /* 8 rows of columns f, f + 4, f + 8, f + 12 */
    vsse64.v v8, (column_at), temp
    addi column_at, column_at, TILE
    vsse64.v v10, (column_at), temp
    addi column_at, column_at, TILE
    vsse64.v v12, (column_at), temp
    addi column_at, column_at, TILE
    vsse64.v v14, (column_at), temp
    addi column_at, column_at, 13 * TILE
    vsse64.v v16, (column_at), temp
    addi column_at, column_at, TILE
    vsse64.v v18, (column_at), temp
    addi column_at, column_at, TILE
    vsse64.v v20, (column_at), temp
    addi column_at, column_at, TILE
    vsse64.v v22, (column_at), temp
    vsetivli zero, 8, e16, m1, ta, ma
    li temp, 1 << 13
    vwmul.vx v26, v24, temp            /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx v26, v26, sign_bits
    vfmul.vf v26, v26, scale_up
    vse32.v v26, (\scale_out)
.endm

/* Column \c of the scratch, in \reg, times the activations of both tokens. */
.macro column c, reg
    vle8.v \reg, (column_at)
    lb temp, (\c) / 4 * 16 + (\c) % 4(act)
    lb temp_1, (\c) / 4 * 16 + (\c) % 4 + 4(act)
    addi column_at, column_at, TILE
    .if \c == 0
    vwmul.vx dots_a, \reg, temp
    vwmul.vx dots_b, \reg, temp_1
    .else
    vwmacc.vx dots_a, temp, \reg
    vwmacc.vx dots_b, temp_1, \reg
    .endif
.endm

.macro four_columns c
    column (\c), column_0
    column (\c) + 1, column_1
    column (\c) + 2, column_0
    column (\c) + 3, column_1
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
    finish_half dots_a, rows_low, out, scales
    beqz rows_high, 2f
    add temp, out, low_bytes
    add temp_1, scales, low_bytes
    finish_half dots_a_high, rows_high, temp, temp_1
2:
.endm

/* Zeros to the tile's y of every token. */
.macro clear_tile
    mv out, dst
    mv tokens_left, n_tokens
    add temp_1, dst, low_bytes
    vsetvli zero, rows_low, e32, m8, ta, ma
    vmv.v.i sums, 0
1:  beqz tokens_left, 2f
    vsetvli zero, rows_low, e32, m8, ta, ma
    vse32.v sums, (out)
    vsetvli zero, rows_high, e32, m8, ta, ma
    vse32.v sums, (temp_1)
    add out, out, y_stride
    add temp_1, temp_1, y_stride
    addi tokens_left, tokens_left, -1
    j 1b
2:
.endm

.macro decode_tile
    mv out, scratch                    /* column 0 of the group */
    mv act, scales
    mv tokens_left, rows
    mv step, group_at
3:  mv column_at, out
    mv temp_1, step
    decode_group act
    addi out, out, 8
    addi act, act, 32
    add step, step, row_bytes
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, 3b
.endm

func gemm_f32_q4x8_q8x4_rvv, v
    enter_frame LOCALS
    mv scratch, sp
    li temp, SCALES_AT
    add scales, sp, temp
    li temp, SPILL_AT
    add spill, sp, temp
    ld temp, SHAPE_COLS(a3)
    ld n_tokens, SHAPE_TOKENS(a3)
    ld y_stride, SHAPE_Y_STRIDE(a3)
    ld rows_left, SHAPE_ROWS(a3)
    slli y_stride, y_stride, 2
    srli temp, temp, 5                 /* blocks of a row */
    li row_bytes, BLOCK_BYTES
    mul row_bytes, row_bytes, temp
    li group_bytes, ACT_BYTES
    mul group_bytes, group_bytes, temp
    add act_end, act_start, group_bytes
    load_float scale_up, F32_MINUS_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    beqz rows_left, .Ldone
.Ltile:
    csrr rows_low, vlenb
    slli rows, rows_low, 2             /* as int16 in 8 registers */
    slli rows_low, rows_low, 1
    li temp, TILE
    at_most rows, temp
    at_most rows, rows_left
    at_most rows_low, rows
    sub rows_high, rows, rows_low
    slli low_bytes, rows_low, 2
    clear_tile
    mv group_at, weights
    mv act_block, act_start
    beq act_block, act_end, .Lnext_tile
.Lblock:
    decode_tile
    mv act, act_block
    mv out, dst
    mv tokens_left, n_tokens
    li step, 8
    blez tokens_left, .Lnext_block
.Lpair:
    mv column_at, scratch
    vsetvli zero, rows, e8, m4, ta, ma
    four_columns 0
    four_columns 4
    four_columns 8
    four_columns 12
    four_columns 16
    four_columns 20
    four_columns 24
    four_columns 28
    flw act_scale, ACT_SCALES(act)
    vsetvli zero, zero, e16, m8, ta, ma
    vse16.v dots_b, (spill)
    finish
    addi tokens_left, tokens_left, -2
    bltz tokens_left, .Lnext_block     /* there is no second token */
    flw act_scale, ACT_SCALES + 4(act)
    vsetvli zero, rows, e16, m8, ta, ma
    vle16.v dots_a, (spill)
    add out, out, y_stride
    finish
    add out, out, y_stride
    add act, act, step
    sub step, group_bytes, step
    bnez tokens_left, .Lpair
.Lnext_block:
    addi act_block, act_block, ACT_BYTES
    addi group_at, group_at, BLOCK_BYTES
    bne act_block, act_end, .Lblock
.Lnext_tile:
    sub rows_left, rows_left, rows
    slli temp, rows, 2
    add dst, dst, temp
    srli temp, rows, 3                 /* only the last tile is no multiple of 8 */
    mul temp, temp, row_bytes
    add weights, weights, temp
    bnez rows_left, .Ltile
.Ldone:
    leave_frame LOCALS
    ret
endfunc
