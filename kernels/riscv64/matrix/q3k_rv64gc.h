/* gemv and gemm of Q3_K without vectors, as in gemv_k_rv64gc.h. A value here is q + 4. */
#ifndef INGOT_KERNELS_RISCV64_Q3K_RV64GC_H
#define INGOT_KERNELS_RISCV64_Q3K_RV64GC_H

#define SCALES K36_SCALES
#define LOW Q3K_LOW
#define HIGH Q3K_HIGH
#define UNIT 16
#define SCALED 16 /* columns of a scale */
#define OFFSET 4
#define WITH_OFFSET 0 /* log2 of OFFSET, or 0 if q already includes it */
#include "kernels/riscv64/matrix/gemv_k_rv64gc.h"

.macro make_masks
    li even_mask, 0x00ff00ff00ff00ff
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

.macro make_block_masks
    li low_mask, 0x0303030303030303
    li high_mask, 0x0404040404040404
.endm

.macro value at
    ld bytes, \at(low_at)
    ld bits, \at(high_at)
    srl bytes, bytes, low_shift
    srl bits, bits, high_shift
    and bytes, bytes, low_mask
    slli bits, bits, 2
    or bytes, bytes, high_mask
    and bits, bits, high_mask
    sub bytes, bytes, bits             /* no byte borrows: 4 + two bits, minus 4 or 0 */
.endm

.macro scale to, row
    lb \to, \row(bits)
.endm

.macro next_place
    next_two_bits low_at, low_shift
    next_bit high_at, high_shift
.endm

.macro q3k_block
    k_block no_mins, Q3K_BYTES
.endm

#endif
