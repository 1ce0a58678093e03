/* Shared by the quantized RVV gemms.
 *
 * A lane is a row. The weights of a tile of rows and 32 columns are decoded once
 * for all tokens into a scratch on the stack, column by column. Each column is
 * multiplied by one scalar activation: nothing is folded across lanes at any
 * vector length. A tile of y is read and written once for each block. Tokens are
 * taken in pairs, which share the load of a column. If the second token of the last pair is
 * missing, its activations are zeros, and its y is not written. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_RVV_H

#include "kernels/riscv64/asm.h"

#ifndef ROWS_LOG2
#define ROWS_LOG2 2    /* log2 (a tile's rows / a register's bytes): rows fill 8 registers as int16 */
#endif

/* A kernel that includes this defines TILE (rows), COLUMN_BYTES (of a tile's column in the scratch),
 * load_column (the instruction) and SUM_COLUMNS (how many are summed up in dots_a and dots_b before
 * they are folded). The kernel owns s0 and s6-s11. If columns fill whole registers, two or four are
 * loaded by one instruction (load_columns). */
#define dst a0         /* the tile's first row, token 0 */
#define weights a1     /* the tile's first group, block 0 */
#define act_start a2
#define rows_left a3
#define n_tokens a4
#define y_stride a5    /* bytes */
#define row_bytes a6   /* bytes of one group of 8 rows */
#define group_bytes a7 /* of four tokens */
#define shape rows_left /* until load_shape */
#define group_at s1    /* points to the block of the tile's first group */
#define act_block s2   /* the block of the first tokens */
#define rows s3        /* of the tile */
#define rows_low s4    /* number of these rows that fit 8 registers as 32 bits */
#define rows_high s5   /* number of the other rows */
#define act t0
#define out t1
#define tokens_left t2
#define step t3        /* bytes from this pair of tokens to the next */
#define column_at t4
#define temp t5
#define temp_1 t6
#define act_scale ft1

#define dots_a v0      /* m8: first token */
#define dots_b v8      /* m8: second */
#define column_0 v16   /* m4 */
#define column_1 v20

/* Save s0 to s11, then set sp to \bytes (a multiple of 16) for the kernel. */
.macro enter_frame bytes
    push ALL_SAVED_BYTES, ALL_SAVED
    li temp, \bytes
    sub sp, sp, temp
    .cfi_adjust_cfa_offset \bytes
.endm

.macro leave_frame bytes
    li temp, \bytes
    add sp, sp, temp
    .cfi_adjust_cfa_offset -(\bytes)
    pop ALL_SAVED_BYTES, ALL_SAVED
.endm

.macro load_shape cols_log2, block_bytes, act_bytes
    ld temp, SHAPE_COLS(shape)
    ld n_tokens, SHAPE_TOKENS(shape)
    ld y_stride, SHAPE_Y_STRIDE(shape)
    ld rows_left, SHAPE_ROWS(shape)
    slli y_stride, y_stride, 2
    srli temp, temp, \cols_log2        /* blocks of a row */
    li row_bytes, \block_bytes
    mul row_bytes, row_bytes, temp
    li group_bytes, \act_bytes
    mul group_bytes, group_bytes, temp
.endm

/* \out = the lesser of \out and \limit. */
.macro at_most out, limit
    bltu \out, \limit, .Lwithin\@
    mv \out, \limit
.Lwithin\@:
.endm

/* Split 128 bytes in v16, four chunks, by column: lane 8k + r of v0, v2, v4, v6 (m2) is row r of
 * column 4k, 4k + 1, 4k + 2, 4k + 3. Leaves e8, m2, vl = 32. Clobbers v8-v15. One vlseg4e8 would
 * also do this, but takes 140 cycles on the sifive-p670 instead of 8. */
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

/* Store 8 rows of columns f, f + 4, f + 8, f + 12, for f = 0 to 3, to the scratch; temp is 4 *
 * TILE, and vtype has 4 elements of 64 bits. */
.macro store_columns from0, from1, from2, from3, column_bytes=TILE
    vsse64.v \from0, (column_at), temp
    add column_at, column_at, \column_bytes
    vsse64.v \from1, (column_at), temp
    add column_at, column_at, \column_bytes
    vsse64.v \from2, (column_at), temp
    add column_at, column_at, \column_bytes
    vsse64.v \from3, (column_at), temp
.endm

/* Multiply column \c, in \reg, by the activations of both tokens. */
.macro multiply_column c, reg
    lb temp, (\c) / 4 * 16 + (\c) % 4(act)
    lb temp_1, (\c) / 4 * 16 + (\c) % 4 + 4(act)
    .if (\c) % SUM_COLUMNS == 0
    vwmul.vx dots_a, \reg, temp
    vwmul.vx dots_b, \reg, temp_1
    .else
    vwmacc.vx dots_a, temp, \reg
    vwmacc.vx dots_b, temp_1, \reg
    .endif
.endm

.macro column c, reg
    load_column \reg, (column_at)
    addi column_at, column_at, COLUMN_BYTES
    multiply_column \c, \reg
.endm

/* Load eight registers: two columns of m4 or four of m2. */
.macro load_columns eight
    vl8re8.v column_0, (column_at)
    add column_at, column_at, \eight
.endm

/* Columns \c to \c + 3. If columns follow each other register by register, \eight is the size of
 * eight registers in bytes and \at_once the number of columns in them, which one load then
 * reads. */
.macro four_columns c, eight, at_once
    .ifb \eight
    column (\c), column_0
    column (\c) + 1, column_1
    column (\c) + 2, column_0
    column (\c) + 3, column_1
    .else
    .ifc \at_once, 4
    load_columns \eight
    multiply_column (\c), v16
    multiply_column (\c) + 1, v18
    multiply_column (\c) + 2, v20
    multiply_column (\c) + 3, v22
    .else
    load_columns \eight
    multiply_column (\c), column_0
    multiply_column (\c) + 1, column_1
    load_columns \eight
    multiply_column (\c) + 2, column_0
    multiply_column (\c) + 3, column_1
    .endif
    .endif
.endm

/* Store zeros, from the register group \zeros, to y of tokens_left tokens. out points to the tile's
 * y of the first token, temp_1 to its y after rows_low rows. */
.macro clear_halves zeros
    vsetvli zero, rows_low, e32, m8, ta, ma
    vmv.v.i \zeros, 0
.Ltoken\@:
    beqz tokens_left, .Lcleared\@
    vsetvli zero, rows_low, e32, m8, ta, ma
    vse32.v \zeros, (out)
    vsetvli zero, rows_high, e32, m8, ta, ma
    vse32.v \zeros, (temp_1)
    add out, out, y_stride
    add temp_1, temp_1, y_stride
    addi tokens_left, tokens_left, -1
    j .Ltoken\@
.Lcleared\@:
.endm

/* Take the rows of the next tile. */
.macro take_tile_rows
    csrr rows_low, vlenb
    slli rows, rows_low, ROWS_LOG2
    slli rows_low, rows_low, 1
    li temp, TILE
    at_most rows, temp
    at_most rows, rows_left
    at_most rows_low, rows
    sub rows_high, rows, rows_low
.endm

/* Go to .Ltile if there is another tile. */
.macro next_tile
    sub rows_left, rows_left, rows
    slli temp, rows, 2
    add dst, dst, temp
    srli temp, rows, 3                 /* rows is a multiple of 8, except in the last tile */
    mul temp, temp, row_bytes
    add weights, weights, temp
    bnez rows_left, .Ltile
.endm

#endif
