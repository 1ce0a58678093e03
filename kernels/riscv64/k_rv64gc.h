/* Shared by the scalar gemms of Q4_K and Q6_K: four tokens at a time. */
#ifndef INGOT_KERNELS_RISCV64_K_RV64GC_H
#define INGOT_KERNELS_RISCV64_K_RV64GC_H

#define FRAME_ISUM 304      /* int32[4 tokens][8 rows] */
#define FRAME_ACT_SUMS 432  /* Q4_K: int32[8 sub-blocks][4 tokens] */
#define FRAME_SUMS_AT 560   /* Q4_K: those of the next sub-block */
#define FRAME_HIGH_AT 560   /* Q6_K: the next high bits */
#define FRAME_SCALES_AT 568
#define FRAME_LEFT 576
#define FRAME_UNITS 584     /* Q6_K */
#define FRAME_BYTES 592

#define ACT_BYTES Q8KX4_BYTES
#define ACT_D Q8KX4_SCALE

#include "kernels/riscv64/gemm_rv64gc.h"

#define CHUNK 16 /* bytes of 4 columns of x */
#define spare ra

/* \macro for every token, with its activation register. */
.macro of_tokens macro, more:vararg
    \macro act0, 0, \more
    \macro act1, 1, \more
    \macro act2, 2, \more
    \macro act3, 3, \more
.endm

.macro start_dots out, token
    mul \out, \out, product0
    add \out, \out, product1
.endm

.macro act_pair out, token, offset
    lb \out, \offset + 4*\token(act)
    lb word, \offset + 4*\token + 2(act)
    slli \out, \out, 16
    add \out, \out, word
.endm

.macro products dots0, dots1, dots2, dots3
    four_tokens \dots0, \dots1, \dots2, \dots3, sub
.endm

.macro clear_isum
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    sd zero, FRAME_ISUM + 8*\n(sp)
    .endr
.endm

.macro add_isum row, scale0, scale1, token
    lw word, FRAME_ISUM + 32*\token + 4*\row(sp)
    lw product0, FRAME_ISUM + 32*\token + 4*\row + 4(sp)
    finish_pair fmadd.s, word, product0, \row, \scale0, \scale1, \token
.endm

/* \macro for two rows from \row on and all tokens. */
.macro of_rows macro, row, scale0, scale1
    \macro \row, \scale0, \scale1, 0
    \macro \row, \scale0, \scale1, 1
    \macro \row, \scale0, \scale1, 2
    \macro \row, \scale0, \scale1, 3
.endm

/* sum = fma((float)isum, d x.d, sum), all rows and tokens. */
.macro add_isums
    .irp token, 0, 1, 2, 3
    flw fa\token, ACT_D + 4*\token(act)
    .endr
    load_row_scales 0, product0
    of_rows add_isum, 0, ft0, ft1
    of_rows add_isum, 2, ft2, ft3
    of_rows add_isum, 4, ft4, ft5
    of_rows add_isum, 6, ft6, ft7
.endm

.macro matrix block_macro, block_bytes
    sd ra, FRAME_RA(sp)
    .cfi_rel_offset ra, FRAME_RA
    gemm_loops \block_macro, \block_bytes, ACT_BYTES, 8
    ld ra, FRAME_RA(sp)
    .cfi_restore ra
.endm

#endif
