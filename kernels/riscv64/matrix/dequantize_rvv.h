/* Shared by the dequantize kernels: the place of a row, and a scale. */
#ifndef INGOT_KERNELS_RISCV64_DEQUANTIZE_RVV_H
#define INGOT_KERNELS_RISCV64_DEQUANTIZE_RVV_H

#include "kernels/riscv64/asm.h"

#define ROW_STRIDE 32  /* from a row's 4 columns of a chunk to its next */

/* \group = the first block of the row's group, \row = its place there, \blocks_left = blocks of a
 * row; to \none if there is none. */
.macro find_row group, row, blocks_left, cols_log2, block_bytes, temp, index, none
    srli \blocks_left, \blocks_left, \cols_log2
    beqz \blocks_left, \none
    li \temp, \block_bytes
    mul \temp, \temp, \blocks_left
    srli \index, \row, 3
    mul \temp, \temp, \index
    add \group, \group, \temp
    andi \row, \row, 7
.endm

/* \scale = the finite fp16 at \at + \offset; scale_up and sign_bits as f16_rvv.h has them. */
.macro load_scale scale, at, offset, bits
    lh \bits, \offset(\at)
    slli \bits, \bits, 13
    and \bits, \bits, sign_bits
    fmv.w.x \scale, \bits
    fmul.s \scale, \scale, scale_up
.endm

#endif
