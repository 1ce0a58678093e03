/* gemv and gemm of Q2_K without vectors, as in gemv_k_rv64gc.h. Units are sub-blocks. */
#ifndef INGOT_KERNELS_RISCV64_Q2K_RV64GC_H
#define INGOT_KERNELS_RISCV64_Q2K_RV64GC_H

#define SCALES Q2K_SCALES
#define LOW Q2K_QUANTS
#define HIGH 0
#define UNIT 16
#define SCALED 16 /* columns of a scale */
#define OFFSET 0
#define WITH_OFFSET 0 /* log2 of OFFSET, or 0 if q already includes it */
#include "kernels/riscv64/matrix/gemv_k_rv64gc.h"

.macro make_masks
    li even_mask, 0x0003000300030003
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

.macro make_block_masks
.endm

.macro value at
    ld bytes, \at(low_at)
    srl bytes, bytes, low_shift
.endm

.macro scale to, row
    lbu \to, \row(bits)
    andi \to, \to, 15
.endm

.macro next_place
    next_two_bits low_at, low_shift
.endm

.macro q2k_block
    k_block mins_of_16, Q2K_BYTES
.endm

#endif
