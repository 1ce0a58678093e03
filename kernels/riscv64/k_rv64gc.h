/* Shared by the scalar kernels of Q4_K and Q6_K: TOKENS (1 or 4) at a time, a gemv is a gemm of
 * one token. */
#ifndef INGOT_KERNELS_RISCV64_K_RV64GC_H
#define INGOT_KERNELS_RISCV64_K_RV64GC_H

#define FRAME_ISUM 304      /* int32[4 tokens][8 rows] */
#define FRAME_ACT_SUMS 432  /* Q4_K: int32[8 sub-blocks][4 tokens] */
#define FRAME_SUMS_AT 560   /* Q4_K: those of the next sub-block */
#define FRAME_HIGH_AT 560   /* Q6_K: the next high bits */
#define FRAME_SCALES_AT 568
#define FRAME_LEFT 576
#define FRAME_GEMV 584      /* struct gemm_shape */
#define FRAME_UNITS 624     /* Q6_K */
#define FRAME_BLOCK 632     /* of Q5_K, Q3_K, Q2_K: the one that is spread */
#define FRAME_RETURN 640    /* ra of what kernels share */
#define FRAME_BYTES 656

#include "kernels/riscv64/gemm_rv64gc.h"

#define CHUNK (4 * TOKENS) /* bytes of 4 columns of x */
#define spare ra

/* What kernels of an op share is a function of its own, in their frame and with their registers. */
.macro share name
    .if TOKENS == 4
    call \name\()_gemm_rv64gc
    .else
    call \name\()_gemv_rv64gc
    .endif
.endm

.macro shared name, body
func \name
    sd ra, FRAME_RETURN(sp)
    .cfi_rel_offset ra, FRAME_RETURN
    \body
    ld ra, FRAME_RETURN(sp)
    .cfi_restore ra
    ret
endfunc
.endm

/* \macro for every token, with its activation register. */
.macro of_tokens macro, more:vararg
    \macro act0, 0, \more
    .if TOKENS == 4
    \macro act1, 1, \more
    \macro act2, 2, \more
    \macro act3, 3, \more
    .endif
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
    .if TOKENS == 4
    four_tokens \dots0, \dots1, \dots2, \dots3, sub
    .else
    mul word, word, act0
    sub \dots0, \dots0, word
    .endif
.endm

.macro clear_isum
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \n < 4*TOKENS
    sd zero, FRAME_ISUM + 8*\n(sp)
    .endif
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
    .if TOKENS == 4
    \macro \row, \scale0, \scale1, 1
    \macro \row, \scale0, \scale1, 2
    \macro \row, \scale0, \scale1, 3
    .endif
.endm

/* sum = fma((float)isum, d x.d, sum), all rows and tokens. */
.macro add_isums
    .irp token, 0, 1, 2, 3
    .if \token < TOKENS
    flw fa\token, ACT_D + 4*\token(act)
    .endif
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

/* rows in a3, cols in a4: a3 = a shape of one token in the frame. */
.macro shape_of_gemv
    li temp, 1
    sd shape, FRAME_GEMV + SHAPE_ROWS(sp)
    sd act0, FRAME_GEMV + SHAPE_COLS(sp)
    sd temp, FRAME_GEMV + SHAPE_TOKENS(sp)
    sd zero, FRAME_GEMV + SHAPE_Y_STRIDE(sp)
    addi shape, sp, FRAME_GEMV
.endm

#endif
