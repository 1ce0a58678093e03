/* Weights whose nibbles are indices into a table of values, without vectors.
 *
 * A byte has columns c and c + 16 of a row. The byte selects v_c + v_(c+16) 2^32 in a table of 256 doublewords, which
 * each call makes from the 16 values. The product with x_(c+16) + x_c 2^32 has v_c x_c + v_(c+16) x_(c+16) at 2^32. 2^31
 * keeps the lower sum, at most 64 * 127 * 128 in FIG4, positive; the part above overflows and is lost. */
#ifndef INGOT_KERNELS_RISCV64_TABLE_RV64GC_H
#define INGOT_KERNELS_RISCV64_TABLE_RV64GC_H

#include "kernels/riscv64/asm.h"

#define PAIRS_BYTES 2048

/* Make the table at \to from the values at \values; clobbers all arguments. */
.macro make_table values, to, high, high_at, low, low_at, values_end
    mv \high_at, \values
    addi \values_end, \values, 16
.Lhigh\@:
    lb \high, 0(\high_at)
    mv \low_at, \values
    slli \high, \high, 32
.Llow\@:
    lb \low, 0(\low_at)
    addi \low_at, \low_at, 1
    add \low, \low, \high
    sd \low, 0(\to)
    addi \to, \to, 8
    bne \low_at, \values_end, .Llow\@
    addi \high_at, \high_at, 1
    bne \high_at, \values_end, .Lhigh\@
.endm

#endif
