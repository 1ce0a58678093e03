/* Shared by the gemms of Q5_0 and Q5_1 without vectors. A kernel that includes this defines BLOCK_BYTES,
 * QUANTS_AT and HIGH_AT, which describe a group's block, and MINS_AT if there are minima.
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa5, fa7; saves s0-s11 and ra in a frame
 * of 304 bytes.
 *
 * As in the gemm of Q8_0, one multiplication computes two products: a + b 2^32 (q of one column
 * of two rows) times x. Each pair of rows and token has a register for the sum, which starts with
 * 2^31 and, for Q5_0, with -16 x.sum in both halves. q is assembled once for four tokens. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_FIFTHS_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMM_FIFTHS_RV64GC_H

#include "kernels/riscv64/matrix/gemm/gemm_rv64gc.h"

#define fifth_mask ra  /* 1 in both halves */

.macro start
    load_float scale_up, F32_2P112, temp
    li mask, 0x0000000f0000000f
.endm

.macro start_dots out, token
#ifdef MINS_AT
    mv \out, product1
#else
    lw word, Q8X4_SUM + 4*\token(act)
    slli word, word, 4
    slli product0, word, 32
    sub \out, product1, word
    sub \out, \out, product0           /* 2^31 - 16 * x.sum in both */
#endif
.endm

/* Multiply column \index of chunk \chunk or, if \half is 4, the column that comes 16 later. */
.macro column chunk, index, half
    lb act0, 16*(\chunk + \half) + \index(act)
    lb act1, 16*(\chunk + \half) + \index + 4(act)
    lb act2, 16*(\chunk + \half) + \index + 8(act)
    lb act3, 16*(\chunk + \half) + \index + 12(act)
    .irp pair, 0, 1, 2, 3
    ld word, QUANTS_AT + 32*\chunk + 8*\pair(block)
    ld product0, HIGH_AT + 8*\pair(block)
    .if 8*\index + \half
    srli word, word, 8*\index + \half
    .endif
    .if 8*\index + \chunk + \half
    srli product0, product0, 8*\index + \chunk + \half
    .endif
    and word, word, mask
    and product0, product0, fifth_mask
    slli product0, product0, 4
    or word, word, product0
    of_pair \pair, four_tokens, add
    .endr
.endm

.macro finish dots, row, scale0, scale1, token
    srai word, \dots, 32
    subw \dots, \dots, product0
    finish_pair fmadd.s, \dots, word, \row, \scale0, \scale1, \token
.endm

.macro fifths_block
    li product1, 1 << 31
    start_dots act0, 0
    start_dots act1, 1
    start_dots act2, 2
    start_dots act3, 3
    of_pairs set_dots, act0, act1, act2, act3
    .irp chunk, 0, 1, 2, 3
    .irp index, 0, 1, 2, 3
    column \chunk, \index, 0
    column \chunk, \index, 4
    .endr
    .endr
    load_row_scales 0, product0
    li product0, 1 << 31
    .irp token, 0, 1, 2, 3
    flw fa\token, Q8X4_SCALE + 4*\token(act)
    .endr
    finish_rows finish
#ifdef MINS_AT
    .irp token, 0, 1, 2, 3
    lw word, Q8X4_SUM + 4*\token(act)
    fcvt.s.w fa4, word
    fmul.s fa\token, fa4, fa\token
    .endr
    add_minima MINS_AT
#endif
.endm

/* Body of a gemm. */
.macro gemm_fifths
    open_frame
    sd ra, FRAME_RA(sp)
    .cfi_rel_offset ra, FRAME_RA
    li fifth_mask, 0x0000000100000001
    gemm_loops fifths_block, BLOCK_BYTES, Q8X4_BYTES, COLS_LOG2
    ld ra, FRAME_RA(sp)
    .cfi_restore ra
    close_frame
    ret
.endm

#endif
