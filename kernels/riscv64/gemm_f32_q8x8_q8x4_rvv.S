/* void gemm_f32_q8x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 4.9 KiB
 * of stack.
 *
 * As gemm_rvv.h says, with tiles of 32 rows at VLEN 128 and 64 above. Two products of -128 and -128
 * overflow int16, so the scratch holds int16 and a block sums in int32.
 *
 * For 8 rows, 32 columns and a token: 27 instructions at VLEN 128, 13.5 at 256; decoding adds 0.6
 * for 64 tokens. */
#define TILE 64           /* rows */
#define COLUMN_BYTES (2 * TILE)
#define load_column vle16.v
#define SUM_COLUMNS 32    /* that are summed up before they are folded */
#include "kernels/riscv64/gemm_32_rvv.h"

#define tile_scales s8 /* float [TILE] */
#define word_offsets s9   /* uint32_t [TILE]: of each row's first chunk, from group_at + QUANTS */
#define scale_offsets s10 /* uint32_t [TILE]: of its scale, from group_at */
#define sign_bits s11  /* F16_SIGN_MAGNITUDE */
#define scale_up ft0   /* 2^112 */

#define products v16   /* m8, when a token is finished */
#define sums v24

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
    vse32.v v24, (tile_scales)
    mv column_at, scratch
    addi temp, group_at, QUANTS
    li tokens_left, 8                  /* chunks */
.Lchunk\@:
    vsetvli zero, zero, e32, m8, ta, ma
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
    bnez tokens_left, .Lchunk\@
.endm

/* y += (float)dots * (scales * act_scale), y at out. */
.macro finish dots
    vle32.v products, (tile_scales)
    vle32.v sums, (out)
    vfcvt.f.x.v \dots, \dots
    vfmul.vf products, products, act_scale
    vfmacc.vv sums, \dots, products
    vse32.v sums, (out)
.endm

.macro finish_first
    vsetvli zero, zero, e32, m8, ta, ma
    finish dots_a
.endm

.macro finish_second
    add out, out, y_stride
    finish dots_b
.endm

/* Zeros to the tile's y of every token. */
.macro clear_tile
    mv out, dst
    mv tokens_left, n_tokens
    vsetvli zero, rows, e32, m8, ta, ma
    vmv.v.i sums, 0
.Ltoken\@:
    beqz tokens_left, .Lcleared\@
    vse32.v sums, (out)
    add out, out, y_stride
    addi tokens_left, tokens_left, -1
    j .Ltoken\@
.Lcleared\@:
.endm

.macro take_tile
    csrr rows, vlenb
    slli rows, rows, 1                 /* as int32 in 8 registers */
    li temp, TILE
    at_most rows, temp
    at_most rows, rows_left
    clear_tile
    find_rows
.endm

.macro start_constants
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

func gemm_f32_q8x8_q8x4_rvv, v
    enter_frame LOCALS
    mv scratch, sp
    li temp, SCALES_AT
    add tile_scales, sp, temp
    addi word_offsets, tile_scales, WORD_OFFSETS_AT - SCALES_AT
    addi scale_offsets, tile_scales, SCALE_OFFSETS_AT - SCALES_AT
    load_shape COLS_LOG2, Q8X8_BYTES, Q8X4_BYTES
    gemm_loops_32 Q8X8_BYTES, e16
    leave_frame LOCALS
    ret
endfunc
