/* void gemm_f32_q8x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 5 KiB of
 * stack.
 *
 * As gemm.h says, with tiles of 32 rows at VLEN 128 and 64 above. Two products of -128 and -128
 * overflow int16, so the scratch holds int16 and a block sums in int32.
 *
 * For 8 rows, 32 columns and a token: 27 instructions at VLEN 128, 13.5 at 256; decoding adds 0.6
 * for 64 tokens. */
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
#define scratch s4     /* int16 [32][TILE] */
#define scales s5      /* float [TILE] */
#define word_offsets s6  /* uint32_t [TILE]: of the first chunk of each row, from group_at + 16 */
#define scale_offsets s7 /* uint32_t [TILE]: of its scale, from group_at */
#define sign_bits s8   /* F16_SIGN_MAGNITUDE */
#define act t0
#define out t1
#define tokens_left t2
#define step t3        /* from this pair of tokens to the next */
#define column_at t4
#define temp t5
#define temp_1 t6
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define dots_a v0      /* m8, int32: first token */
#define dots_b v8      /* m8: second */
#define column_0 v16   /* m4, int16 */
#define column_1 v20
#define products v16   /* m8, when a token is finished */
#define sums v24

#define TILE 64        /* rows */
#define BLOCK_BYTES 272
#define ACT_BYTES 160
#define ACT_SCALES 128
#define SCALES_AT (64 * TILE)
#define WORD_OFFSETS_AT (SCALES_AT + 4 * TILE)
#define SCALE_OFFSETS_AT (WORD_OFFSETS_AT + 4 * TILE)
#define LOCALS (SCALE_OFFSETS_AT + 4 * TILE)

/* Where the tile's rows lie: row r is in group r / 8. */
.macro find_rows
    vsetvli zero, rows, e32, m8, ta, ma
    vid.v v0
    vsrl.vi v8, v0, 3
    vmul.vx v8, v8, row_bytes
    vand.vi v0, v0, 7
    vsll.vi v0, v0, 1
    vadd.vv v16, v8, v0
    vse32.v v16, (scale_offsets)
    vadd.vv v16, v16, v0
    vse32.v v16, (word_offsets)
.endm

.macro store_column reg
    vse16.v \reg, (column_at)
    addi column_at, column_at, 2 * TILE
.endm

/* Scales and weights of the tile's block. A gathered word is 4 columns of a row. */
.macro decode_tile
    vsetvli zero, rows, e16, m4, ta, ma
    vle32.v v8, (scale_offsets)
    vluxei32.v v16, (group_at), v8
    li temp, 1 << 13
    vle32.v v8, (word_offsets)
    vwmul.vx v24, v16, temp            /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m8, ta, ma
    vand.vx v24, v24, sign_bits
    vfmul.vf v24, v24, scale_up
    vse32.v v24, (scales)
    mv column_at, scratch
    addi temp, group_at, 16
    li tokens_left, 8                  /* chunks */
1:  vsetvli zero, zero, e32, m8, ta, ma
    vluxei32.v v0, (temp), v8
    vsll.vi v16, v0, 24
    vsll.vi v24, v0, 16
    vsetvli zero, zero, e16, m4, ta, ma
    vnsra.wi v16, v16, 24
    store_column v16
    vnsra.wi v24, v24, 24
    store_column v24
    vsetvli zero, zero, e32, m8, ta, ma
    vsll.vi v24, v0, 8
    vsetvli zero, zero, e16, m4, ta, ma
    vnsra.wi v24, v24, 24
    store_column v24
    vnsra.wi v16, v0, 24
    store_column v16
    addi temp, temp, 32
    addi tokens_left, tokens_left, -1
    bnez tokens_left, 1b
.endm

/* Column \c of the scratch, in \reg, times the activations of both tokens. */
.macro column c, reg
    vle16.v \reg, (column_at)
    lb temp, (\c) / 4 * 16 + (\c) % 4(act)
    lb temp_1, (\c) / 4 * 16 + (\c) % 4 + 4(act)
    addi column_at, column_at, 2 * TILE
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

/* y += (float)dots * (scales * act_scale), y at out. */
.macro finish dots
    vle32.v products, (scales)
    vle32.v sums, (out)
    vfcvt.f.x.v \dots, \dots
    vfmul.vf products, products, act_scale
    vfmacc.vv sums, \dots, products
    vse32.v sums, (out)
.endm

/* Zeros to the tile's y of every token. */
.macro clear_tile
    mv out, dst
    mv tokens_left, n_tokens
    vsetvli zero, rows, e32, m8, ta, ma
    vmv.v.i sums, 0
1:  beqz tokens_left, 2f
    vse32.v sums, (out)
    add out, out, y_stride
    addi tokens_left, tokens_left, -1
    j 1b
2:
.endm

func gemm_f32_q8x8_q8x4_rvv, v
    enter_frame LOCALS
    mv scratch, sp
    li temp, SCALES_AT
    add scales, sp, temp
    addi word_offsets, scales, WORD_OFFSETS_AT - SCALES_AT
    addi scale_offsets, scales, SCALE_OFFSETS_AT - SCALES_AT
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
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    beqz rows_left, .Ldone
.Ltile:
    csrr rows, vlenb
    slli rows, rows, 1                 /* as int32 in 8 registers */
    li temp, TILE
    at_most rows, temp
    at_most rows, rows_left
    clear_tile
    find_rows
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
    vsetvli zero, rows, e16, m4, ta, ma
    four_columns 0
    four_columns 4
    four_columns 8
    four_columns 12
    four_columns 16
    four_columns 20
    four_columns 24
    four_columns 28
    flw act_scale, ACT_SCALES(act)
    vsetvli zero, zero, e32, m8, ta, ma
    finish dots_a
    addi tokens_left, tokens_left, -2
    bltz tokens_left, .Lnext_block     /* there is no second token */
    flw act_scale, ACT_SCALES + 4(act)
    add out, out, y_stride
    finish dots_b
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
