/* What the quantized RVV gemms share.
 *
 * A lane is a row. The weights of a tile of rows and 32 columns are decoded once for all tokens
 * into a scratch on the stack, a column after the other, and each column is multiplied by one
 * scalar activation: nothing is ever folded across lanes, at any vector length, and a tile of y
 * is read and written once for each block. Tokens go in pairs, which share the load of a column;
 * the second of the last pair may not exist: its activations are zeros, its y is not written. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_H
#define INGOT_KERNELS_RISCV64_GEMM_H

#include "kernels/riscv64/asm.h"

#define F32_MINUS_2P112 0xf7800000 /* as F32_2P112, and negates */

#define SHAPE_ROWS 0
#define SHAPE_COLS 8
#define SHAPE_TOKENS 16
#define SHAPE_Y_STRIDE 24

/* s0 to s11 are saved, then sp points to \bytes (a multiple of 16) for the kernel. */
#define SAVED_BYTES 96
.macro enter_frame bytes
    addi sp, sp, -SAVED_BYTES
    .cfi_def_cfa_offset SAVED_BYTES
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    sd s\n, 8*\n(sp)
    .endr
    li t0, \bytes
    sub sp, sp, t0
    .cfi_def_cfa_offset SAVED_BYTES + \bytes
.endm

.macro leave_frame bytes
    li t0, \bytes
    add sp, sp, t0
    .cfi_def_cfa_offset SAVED_BYTES
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    ld s\n, 8*\n(sp)
    .endr
    addi sp, sp, SAVED_BYTES
    .cfi_def_cfa_offset 0
.endm

/* \out = the lesser of \out and \limit. */
.macro at_most out, limit
    bltu \out, \limit, 1f
    mv \out, \limit
1:
.endm

/* 128 bytes in v16, four chunks, parted by column: lane 8k + r of v0, v2, v4, v6 (m2) is row r of
 * column 4k, 4k + 1, 4k + 2, 4k + 3. Leaves e8, m2, vl = 32. Clobbers v8-v15. A load by vlseg4e8
 * does it in one instruction, which the sifive-p670 takes for 140 cycles against 8. */
.macro part_columns temp
    li \temp, 32
    vsetvli zero, \temp, e16, m4, ta, ma
    vnsrl.wi v8, v16, 0
    vnsrl.wi v12, v16, 16
    vsetvli zero, zero, e8, m2, ta, ma
    vnsrl.wi v0, v8, 0
    vnsrl.wi v2, v8, 8
    vnsrl.wi v4, v12, 0
    vnsrl.wi v6, v12, 8
.endm

#endif
