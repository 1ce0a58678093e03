/* Shared by those scalar gemms of K formats that do not run the gemv for each token. They take four tokens at
 * a time, whose activations are prepared once for all rows (gemm_packed_rv64gc.h). The record of a block has,
 * for each chunk of 4 columns and each token, the pairs x2 + x0 B and x3 + x1 B as int32; then the start
 * values of the dots; and d of the tokens. */
#ifndef INGOT_KERNELS_RISCV64_K_RV64GC_H
#define INGOT_KERNELS_RISCV64_K_RV64GC_H

#define FRAME_ISUM 368      /* int32[4 tokens][8 rows] */
#define FRAME_HIGH_AT 496   /* where the next high bits are, for weights with two planes */
#define FRAME_SCALES_AT 504
#define FRAME_LEFT 512
#define FRAME_UNITS 520     /* units left, for weights with two planes */
#define FRAME_BYTES 528

#include "kernels/riscv64/matrix/gemm/gemm_packed_rv64gc.h"

#define CHUNK 16 /* bytes of 4 columns of x */
#define PAIRS 32 /* bytes of 4 columns in a record */
#define spare ra

/* Call \macro for every token, with its activation register. */
.macro of_tokens macro, more:vararg
    \macro act0, 0, \more
    \macro act1, 1, \more
    \macro act2, 2, \more
    \macro act3, 3, \more
.endm

#define start_factor s4
#define start_of_dots s5
#define from_chunk a6

/* Store the pairs of 4 columns of a token at \place of the record, and set t4 to their sum. \chunk
 * is relative to from_chunk. */
.macro pack_pairs token, chunk, place
    lb t0, CHUNK*\chunk + 4*\token(from_chunk)
    lb t1, CHUNK*\chunk + 4*\token + 2(from_chunk)
    lb t2, CHUNK*\chunk + 4*\token + 1(from_chunk)
    lb t3, CHUNK*\chunk + 4*\token + 3(from_chunk)
    add t4, t0, t1
    add t4, t4, t2
    add t4, t4, t3
    slli t0, t0, 16
    slli t2, t2, 16
    add t0, t0, t1
    add t2, t2, t3
    sw t0, \place + 4*\token(to)
    sw t2, \place + 16 + 4*\token(to)
.endm

/* Store the start value of dots, computed from t4, the sum of their x. */
.macro pack_start token, place
    mul t4, t4, start_factor
    add t4, t4, start_of_dots
    sd t4, \place + 8*\token(to)
.endm

.macro pack_d
    .irp token, 0, 1, 2, 3
    lw t0, Q8KX4_SCALE + 4*\token(from)
    sw t0, 4*\token(to)
    .endr
    addi to, to, 16
.endm

.macro load_start out, token, place
    ld \out, \place + 8*\token(act)
.endm

.macro load_pair out, token, offset
    lw \out, \offset + 4*\token(act)
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

/* Call \macro for two rows from \row on and all tokens. */
.macro of_rows macro, row, scale0, scale1
    \macro \row, \scale0, \scale1, 0
    \macro \row, \scale0, \scale1, 1
    \macro \row, \scale0, \scale1, 2
    \macro \row, \scale0, \scale1, 3
.endm

/* sum = fma((float)isum, d x.d, sum) for all rows and tokens. */
.macro add_isums
    .irp token, 0, 1, 2, 3
    flw fa\token, RECORD_D + 4*\token(act)
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
    packed_loops \block_macro, \block_bytes, Q8KX4_BYTES, COLS_K_LOG2
    ld ra, FRAME_RA(sp)
    .cfi_restore ra
.endm

#endif
