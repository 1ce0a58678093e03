/* Shared by the kernels that unpack weights. Blocks are at multiples of 8 bytes. */
#ifndef INGOT_KERNELS_RISCV64_UNPACK_RVV_H
#define INGOT_KERNELS_RISCV64_UNPACK_RVV_H

#include "kernels/riscv64/asm.h"

#define out a0
#define weights a1
#define blocks_left a2
#define run t0         /* 128, the bytes of eight registers at VLEN 128 */
#define temp t1
#define temp2 t2

#define copied v24     /* m8 */

/* Copy the fp16 scales of eight rows. */
.macro copy_scales
    ld temp, 0(weights)
    ld temp2, 8(weights)
    addi weights, weights, 16
    sd temp, 0(out)
    sd temp2, 8(out)
    addi out, out, 16
.endm

/* Copy a multiple of 128 bytes. */
.macro copy_bytes bytes
    vsetvli zero, run, e8, m8, ta, ma
    .rept (\bytes) / 128
    vle8.v copied, (weights)
    addi weights, weights, 128
    vse8.v copied, (out)
    addi out, out, 128
    .endr
.endm

/* \scales = (the nibbles in \scales with two more bits above them) - 32. The two bits are bits 4 and 5 of \upper, or of shifted after
 * the instruction \shift. The including file names the registers shifted, six_bits (0x30) and least (-32). */
.macro join scales, upper, shift:vararg
    .ifnb \shift
    \shift
    vand.vx shifted, shifted, six_bits
    .else
    vand.vx shifted, \upper, six_bits
    .endif
    vor.vv \scales, \scales, shifted
    vadd.vx \scales, \scales, least
.endm

#endif
