/* Shared by the dequantize kernels: find a row, and convert a scale. */
#ifndef INGOT_KERNELS_RISCV64_DEQUANTIZE_RVV_H
#define INGOT_KERNELS_RISCV64_DEQUANTIZE_RVV_H

#include "kernels/riscv64/asm.h"

#define ROW_STRIDE 32  /* bytes from a row's 4 columns of one chunk to those of the next */

/* \group = the first block of the row's group, \row = the row's index in the group, \blocks_left =
 * blocks in a row; if there are no blocks, branches to the label \none. */
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

/* \scale = the finite fp16 at \at + \offset; scale_up and sign_bits are as in f16_rvv.h. */
.macro load_scale scale, at, offset, bits
    lh \bits, \offset(\at)
    slli \bits, \bits, 13
    and \bits, \bits, sign_bits
    fmv.w.x \scale, \bits
    fmul.s \scale, \scale, scale_up
.endm

#endif
