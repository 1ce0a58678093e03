/* Shared by the quantize kernels: constants, and the scale of a block. */
#ifndef INGOT_KERNELS_RISCV64_QUANTIZE_RVV_H
#define INGOT_KERNELS_RISCV64_QUANTIZE_RVV_H

#include "kernels/riscv64/asm.h"

#define largest ft0
#define inverse ft1
#define magic ft2
#define limit ft3      /* 127 */
#define smallest ft4   /* 2^-100: below it, a block counts as zero */
#define scale ft5

.macro quantize_constants temp
    load_float magic, F32_MAGIC, \temp
    load_float limit, F32_127, \temp
    load_float smallest, F32_2M100, \temp
.endm

/* largest = element 0 of \reduced and inverse = 127 / largest, both 0 if the block counts as
 * zero. */
.macro invert_largest reduced, tiny
    fmv.w.x inverse, zero
    vfmv.f.s largest, \reduced
    flt.s \tiny, largest, smallest
    bnez \tiny, .Lzero
    fdiv.s inverse, limit, largest
    j .Lround
.Lzero:
    fmv.w.x largest, zero
.Lround:
.endm

#endif
