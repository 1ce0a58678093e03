/* Mins of 6 bits, one for each sub-block of 32 columns, without vectors. */
#ifndef INGOT_KERNELS_RISCV64_MINS_RV64GC_H
#define INGOT_KERNELS_RISCV64_MINS_RV64GC_H

#include "kernels/riscv64/matrix/gemm/k_rv64gc.h"

.macro load_min out, row, index
    lbu \out, K45_SCALES + 8*\index + \row(block)
    lbu word, K45_MINS + 8*(\index % 4) + \row(block)
    srli \out, \out, 6
    .if \index < 4
    andi word, word, 15
    .else
    srli word, word, 4
    .endif
    slli word, word, 2
    or \out, \out, word
.endm

.macro load_mins row, min0, min1, min2, min3, min4, min5, min6, min7
    load_min \min0, \row, 0
    load_min \min1, \row, 1
    load_min \min2, \row, 2
    load_min \min3, \row, 3
    load_min \min4, \row, 4
    load_min \min5, \row, 5
    load_min \min6, \row, 6
    load_min \min7, \row, 7
.endm

/* Add one sub-block's share of the mins of two rows to a4 and a5. */
.macro add_min index, token, min0, min1
    lw word, SUB_BLOCK_BYTES*\index + SUB_BLOCK_SUMS - RECORD_MIDDLE + 4*\token(act)
    mul product0, word, \min0
    mul product1, word, \min1
    .if \index == 0
    mv act0, product0
    mv act1, product1
    .else
    add act0, act0, product0
    add act1, act1, product1
    .endif
.endm

.macro add_imin row, scale0, scale1, token
    add_min 0, \token, dots00, dots20
    add_min 1, \token, dots01, dots21
    add_min 2, \token, dots02, dots22
    add_min 3, \token, dots03, dots23
    add_min 4, \token, dots10, dots30
    add_min 5, \token, dots11, dots31
    add_min 6, \token, dots12, dots32
    add_min 7, \token, dots13, dots33
    finish_pair fnmsub.s, act0, act1, \row, \scale0, \scale1, \token
.endm

.macro subtract_mins row, scale0, scale1
    load_mins \row, dots00, dots01, dots02, dots03, dots10, dots11, dots12, dots13
    load_mins \row + 1, dots20, dots21, dots22, dots23, dots30, dots31, dots32, dots33
    of_rows add_imin, \row, \scale0, \scale1
.endm

/* sum = fma(-imin, dmin x.d, sum) for all rows and tokens. */
.macro subtract_all_mins
    load_row_scales K_DMIN, product0
    subtract_mins 0, ft0, ft1
    subtract_mins 2, ft2, ft3
    subtract_mins 4, ft4, ft5
    subtract_mins 6, ft6, ft7
.endm

#endif
