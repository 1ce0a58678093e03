/* gemm of TQ2_0, Q2_0 and Q1_0 for RVV, by the loops of gemm_k_rvv.h. 32 columns of a tile are decoded
 * once for 12 tokens, to q - 1 (two bits) or 2 q - 1 (one bit). 32 products of -1 to 2 and -128 to
 * 127 are added in int16, and these sums in int32 over the columns of a scale.
 *
 * A kernel that includes this defines BLOCK_BYTES, BITS and PARTS, how many parts of a block have a
 * scale. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_FEW_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_FEW_RVV_H

#define TILE 128          /* rows */
#define TOKENS 12         /* number of tokens that fit in 12 KiB of stack */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 32   /* columns that are summed before they are folded */
#define SUMS_UNSCALED
#define D_AT SCALE_AT    /* float [TILE] */
#define LOCALS (D_AT + 4 * TILE)
#include "kernels/riscv64/matrix/gemm/gemm_d_rvv.h"

/* Load d of the tile's columns from first_part on. */
.macro decode_scales
    mv act, group_at
    .if PARTS > 1
    li temp, 2 * PARTS                 /* 16 bytes for 8 / PARTS parts */
    mul temp, temp, first_part
    add act, act, temp
    .endif
    mv tokens_left, rows
    scratch step, D_AT
.Lgroup\@:
    decode_d
    add act, act, row_bytes
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
.endm

/* Decode 32 columns of the tile: act = their bytes, step = the position of their bits. */
.macro decode_part
    addi act, group_at, 16 * PARTS
    .if BITS == 2
    andi temp, part, 1
    slli temp, temp, 8
    add act, act, temp
    andi step, part, 6
    .else
    mv step, part
    .endif
    decode_weights
.endm

.macro decode_half
    li temp, 128
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v16, (act)
    vsrl.vx v16, v16, step
    vand.vi v16, v16, (1 << BITS) - 1
    .if BITS == 1
    vadd.vv v16, v16, v16
    .endif
    vadd.vi v16, v16, -1
    store_half
.endm

.macro multiply_pair eight, at_once
    vsetvli zero, rows, e8, m4, ta, ma
    .irp first, 0, 4, 8, 12, 16, 20, 24, 28
    four_columns \first
    .endr
    combine dots_a, v4, 0
    combine dots_b, v12, 1
.endm

.macro gemm_few name
func \name, v
    enter_frame LOCALS
    load_shape COLS_K_LOG2, BLOCK_BYTES, Q8KX4_BYTES
    load_float scale_up, F32_2P112, temp
    gemm_loops_k BLOCK_BYTES, , 8 / PARTS
    leave_frame LOCALS
    ret
endfunc
.endm

#endif
