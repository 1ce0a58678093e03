/* Prefetches weights with a hint of Zicbop. A core without it executes `ori zero, ...`, which does
 * nothing. */
#ifndef INGOT_KERNELS_RISCV64_PREFETCH_H
#define INGOT_KERNELS_RISCV64_PREFETCH_H

/* Prefetch the 64-byte lines that hold \bytes bytes from \base + \ahead on. */
.macro prefetch_lines base, ahead, bytes, temp
    .option push
    .option arch, +zicbop
    add \temp, \base, \ahead
    .set offset, 0
    .rept (\bytes + 63) / 64
    prefetch.r offset(\temp)
    .set offset, offset + 64
    .endr
    .option pop
.endm

#endif
