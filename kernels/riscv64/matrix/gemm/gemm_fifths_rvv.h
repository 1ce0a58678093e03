/* Shared by the RVV gemms of Q5_0 and Q5_1: like the gemm of Q8_0 (gemm_int16_rvv.h), except for decoding
 * and minima. A kernel that includes this defines BLOCK_BYTES, QUANTS_AT and HIGH_AT, which describe a
 * group's block, and MINS_AT if there are minima.
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft2, every vector register; 5.2 KiB of stack.
 *
 * The scratch holds q (Q5_0: q - 16). A gathered word of quants is four columns of a row and the four
 * columns 16 further on; a gathered word of fifth bits has those of chunk k at bit k of each byte. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_FIFTHS_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_FIFTHS_RVV_H

#define FINISH_MINS
#include "kernels/riscv64/matrix/gemm/gemm_int16_rvv.h"

#define FIFTHS_LOCALS (LOCALS + 4 * TILE)
#define TILE_MINS (LOCALS - SCALES_AT) /* from tile_scales */
#define act_sum ft2    /* x.sum times x.d */
#define column_bytes out /* while decoding */
#define later_at act   /* columns 16 further on */

/* Convert fp16 of the tile's rows, \at bytes into the block, to floats at \to. */
.macro decode_halves at, to
    vsetvli zero, rows, e16, m4, ta, ma
    vle32.v v8, (scale_offsets)
    addi temp, group_at, \at
    vluxei32.v v16, (temp), v8
    li temp, 1 << 13
    vwmul.vx v24, v16, temp            /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m8, ta, ma
    vand.vx v24, v24, sign_bits
    vfmul.vf v24, v24, scale_up
    vse32.v v24, (\to)
.endm

/* Write one column of the tile, from bit \shift of its words
 * and bit \bit of the fifth bits, to \to, and advance \to. */
.macro fifth_column shift, bit, to
    vnsrl.wi v16, v0, \shift
    vnsrl.wi v20, v24, \bit
    vand.vi v16, v16, 15
    vand.vi v20, v20, 1
    vsll.vi v20, v20, 4
    vor.vv v16, v16, v20
#ifndef MINS_AT
    vadd.vi v16, v16, -16
#endif
    vse16.v v16, (\to)
    add \to, \to, column_bytes
.endm

.macro decode_tile
    decode_halves 0, tile_scales
#ifdef MINS_AT
    addi temp_1, tile_scales, TILE_MINS
    decode_halves MINS_AT, temp_1
#endif
    vle32.v v8, (word_offsets)
    addi temp, group_at, HIGH_AT
    vluxei32.v v24, (temp), v8
    mv column_at, scratch
    srli column_bytes, pair_bytes, 1
    slli later_at, pair_bytes, 3       /* 16 columns */
    add later_at, later_at, column_at
    addi temp, group_at, QUANTS_AT
    li tokens_left, 4                  /* chunks */
.Lchunk\@:
    vsetvli zero, rows, e32, m8, ta, ma
    vluxei32.v v0, (temp), v8
    vsetvli zero, zero, e16, m4, ta, ma
    fifth_column 0, 0, column_at
    fifth_column 4, 4, later_at
    fifth_column 8, 8, column_at
    fifth_column 12, 12, later_at
    fifth_column 16, 16, column_at
    fifth_column 20, 20, later_at
    fifth_column 24, 24, column_at
    fifth_column 28, 28, later_at
    vsetvli zero, zero, e32, m8, ta, ma
    vsrl.vi v24, v24, 1                /* shift to the bits of the next chunk */
    addi temp, temp, 32
    addi tokens_left, tokens_left, -1
    bnez tokens_left, .Lchunk\@
.endm

#ifdef MINS_AT
/* y += minima * (x.sum * x.d); the registers of sums hold y. */
.macro finish_mins
    addi temp, tile_scales, TILE_MINS
    vle32.v products, (temp)
    vfmacc.vf sums, act_sum, products
.endm

.macro scale_of_token at
    scale_32 \at
    lw temp, Q8X4_SUM + \at(act)
    fcvt.s.w act_sum, temp
    fmul.s act_sum, act_sum, act_scale
.endm
#else
.macro finish_mins
.endm

.macro scale_of_token at
    scale_32 \at
.endm
#endif

/* Body of a gemm. */
.macro gemm_fifths
    enter_frame FIFTHS_LOCALS
    place_locals
    load_shape COLS_LOG2, BLOCK_BYTES, Q8X4_BYTES
    add act_end, act_start, group_bytes
    measure_columns pair_bytes
    gemm_loops_32 BLOCK_BYTES, e16, load_scale=scale_of_token, eight=pair_bytes
    leave_frame FIFTHS_LOCALS
    ret
.endm

#endif
