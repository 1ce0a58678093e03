/* gemv and gemm of Q5_K without vectors, as in gemv_k_rv64gc.h. (q - 16) x of 16 columns fills an
 * int16, so a sub-block has two units. */
#ifndef INGOT_KERNELS_RISCV64_Q5K_RV64GC_H
#define INGOT_KERNELS_RISCV64_Q5K_RV64GC_H

#define SCALES K45_SCALES
#define LOW K45_QUANTS
#define HIGH Q5K_HIGH
#define UNIT 16
#define SCALED 32 /* columns of a scale */
#define OFFSET 16
#define WITH_OFFSET 4 /* log2 of OFFSET, or 0 if q already includes it */
#include "kernels/riscv64/matrix/gemv_k_rv64gc.h"

.macro make_masks
    li even_mask, 0x00ff00ff00ff00ff
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

.macro make_block_masks
    li low_mask, 0x0f0f0f0f0f0f0f0f
    li high_mask, 0x0101010101010101
.endm

.macro value at
    ld bytes, \at(low_at)
    ld bits, \at(high_at)
    srl bytes, bytes, low_shift
    srl bits, bits, high_shift
    and bytes, bytes, low_mask
    and bits, bits, high_mask
    slli bits, bits, 4
    or bytes, bytes, bits
.endm

.macro scale to, row
    lbu \to, \row(bits)
    andi \to, \to, 63
.endm

.macro next_place
    next_nibbles low_at, low_shift
    next_bit high_at, high_shift
.endm

.macro q5k_block
    k_block mins_of_32, Q5K_BYTES
.endm

#endif
