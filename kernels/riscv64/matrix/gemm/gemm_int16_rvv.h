/* Shared by the RVV gemms of int8 weights, of Q8_0 and of nibbles through a table. The scratch holds
 * int16 and a block is summed in int32, in tiles of 32 rows at VLEN 128 and 64 above. A kernel
 * defines decode_tile, and finish_mins if it defines FINISH_MINS. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_INT16_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_INT16_RVV_H

#ifndef SUM_COLUMNS       /* a kernel defines all four or none */
#define TILE 64           /* rows */
#define SUM_COLUMNS 32
#define COLUMN_BYTES (2 * TILE)
#define load_column vle16.v
#endif
#include "kernels/riscv64/matrix/gemm/gemm_32_rvv.h"

#define pair_bytes s6  /* bytes of two columns of the scratch, except in FIG4 */
#define tile_scales s8 /* float [TILE] */
#define word_offsets s9   /* uint32_t [TILE]: of each row's first chunk, from group_at + QUANTS */
#define scale_offsets s10 /* uint32_t [TILE]: of its scale, from group_at */
#define sign_bits s11  /* F16_SIGN_MAGNITUDE */
#define scale_up ft0   /* 2^112 */

#define products v16   /* used as m8 when a token is finished */
#define sums v24

#define SCALES_AT (SUM_COLUMNS * COLUMN_BYTES)
#define WORD_OFFSETS_AT (SCALES_AT + 4 * TILE)
#define SCALE_OFFSETS_AT (WORD_OFFSETS_AT + 4 * TILE)
#define LOCALS (SCALE_OFFSETS_AT + 4 * TILE)

/* The positions of the tile's rows: row r is in group r / 8. */
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

/* y += (float)dots * (scales * act_scale), y at out. */
.macro finish dots
    vle32.v products, (tile_scales)
    vle32.v sums, (out)
    vfcvt.f.x.v \dots, \dots
    vfmul.vf products, products, act_scale
    vfmacc.vv sums, \dots, products
#ifdef FINISH_MINS
    finish_mins
#endif
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

/* Clear the tile's y of every token. */
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

/* Set the addresses, after enter_frame. */
.macro place_locals
    mv scratch, sp
    li temp, SCALES_AT
    add tile_scales, sp, temp
    addi word_offsets, tile_scales, WORD_OFFSETS_AT - SCALES_AT
    addi scale_offsets, tile_scales, SCALE_OFFSETS_AT - SCALES_AT
.endm

#endif
