/* void gemm_f32_q6kx8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                               const struct block_q8kx4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 11.6 KiB
 * of stack.
 *
 * As gemm_rvv.h says, 32 columns (two sub-blocks) at a time. The scratch holds 32 - q: 8 products of
 * -31 .. 32 and -128 .. 127 lie in -32768 .. 32512, so that 8 columns sum in int16, before they go with
 * the sub-block's scale into int32 sums. A tile has 32 rows at VLEN 128 and 64 above, so that the int32
 * sums of both tokens stay in registers for 32 columns; with twice the rows they had to be loaded and stored
 * for every 8. Between columns they wait in the scratch, of 64 or 32 tokens. The scales of the block are
 * negated in return, which changes no bit: y is never -0.
 *
 * For 8 rows, 32 columns and a token: 24.9 instructions at VLEN 128, 14.4 at 256. */
#define TILE 64           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 8    /* that are summed up before they are folded; here by the kernel itself */
#define ROWS_LOG2 1      /* of a tile's rows to the bytes of a register: as int32 in 8 registers */
#define TOKENS 32       /* of tiles of 64 rows, twice as many of 32 */
#define SUMS_BY_VLEN
#include "kernels/riscv64/matrix/gemm/gemm_q6k_rvv.h"

#define sums_bytes scale_at /* from one token's sums to the next's, four times a column of the scratch */
#define acc_a v0       /* m8: int32 sums of the first token */
#define acc_b v8
#define narrow_a v16   /* m4: sums of 8 columns */
#define narrow_b v20

.macro most_tokens to
    li \to, 4 * TILE * TOKENS
    divu \to, \to, sums_bytes
.endm

.macro sums_stride to
    mv \to, sums_bytes
.endm

.macro next_sums tokens
    .ifc \tokens, 2                   /* multiply_pair has left the first's next one */
    add acc, temp, sums_bytes
    .else
    add acc, acc, sums_bytes
    .endif
.endm

/* The location of 32 columns. */
.macro locate_part
    srli temp, part, 1
    slli temp, temp, 8
    srli temp_1, part, 2
    slli temp_1, temp_1, 8
    add act, group_at, temp
    sub step, temp_1, temp
    addi act, act, Q6K_LOW
    addi step, step, Q6K_HIGH - Q6K_LOW
.endm

/* 16 columns from act on, high bits at act + step, of one group to column_at. */
.macro decode_half
    li temp, 128
    add temp_1, act, step
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v16, (act)
    vle8.v v24, (temp_1)
    slli temp, part, 2
    slli temp_1, part, 1
    vsrl.vx v16, v16, temp             /* by 0 or 4: the shift is taken modulo 8 */
    vsrl.vx v24, v24, temp_1           /* by 0, 2, 4, 6 */
    vand.vi v16, v16, 15
    li temp, 0x30
    vsll.vi v24, v24, 4
    vand.vx v24, v24, temp
    li temp, 32
    vor.vv v16, v16, v24
    vrsub.vx v16, v16, temp
    store_sixteen
.endm

/* v16, 16 columns of one group, to column_at. */
.macro store_sixteen
    part_columns temp
    srli temp, sums_bytes, 2
    vsetivli zero, 4, e64, m2, ta, ma  /* 8 rows of columns f, f + 4, f + 8, f + 12 */
    vsse64.v v0, (column_at), sums_bytes
    add column_at, column_at, temp
    vsse64.v v2, (column_at), sums_bytes
    add column_at, column_at, temp
    vsse64.v v4, (column_at), sums_bytes
    add column_at, column_at, temp
    vsse64.v v6, (column_at), sums_bytes
.endm

/* Weights of 32 columns of the tile, and the scales of their two sub-blocks as int16. */
.macro decode_part
    locate_part
    mv out, sp
    mv tokens_left, rows
.Lgroup\@:
    mv column_at, out
    decode_half
    slli temp, sums_bytes, 2           /* 16 columns */
    addi act, act, 128
    add column_at, out, temp
    decode_half
    addi act, act, -128
    add act, act, row_bytes
    addi out, out, 8
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
    slli temp_1, part, 7               /* 2 * TILE */
    scratch temp, SCALES_AT
    scratch out, SCALE_AT
    add temp_1, temp_1, temp
    vsetvli zero, rows, e16, m4, ta, ma
    vle8.v v0, (temp_1)
    addi temp_1, temp_1, TILE
    vle8.v v4, (temp_1)
    vsext.vf2 v8, v0
    vsext.vf2 v16, v4
    vse16.v v8, (out)
    addi temp, out, 2 * TILE
    vse16.v v16, (temp)
.endm

/* Column \c, in \reg, times the activations of both tokens. */
.macro narrow_column c, reg
    lb temp, (\c) / 4 * 16 + (\c) % 4(act)
    lb temp_1, (\c) / 4 * 16 + (\c) % 4 + 4(act)
    .if (\c) % 8 == 0
    vwmul.vx narrow_a, \reg, temp
    vwmul.vx narrow_b, \reg, temp_1
    .else
    vwmacc.vx narrow_a, temp, \reg
    vwmacc.vx narrow_b, temp_1, \reg
    .endif
.endm

.macro four_narrow c, eight
    .ifnb \eight
    vl8re8.v v24, (column_at)
    add column_at, column_at, \eight
    narrow_column (\c), v24
    narrow_column (\c) + 1, v26
    narrow_column (\c) + 2, v28
    narrow_column (\c) + 3, v30
    .else
    .irp n, 0, 1, 2, 3
    vle8.v v24, (column_at)
    addi column_at, column_at, TILE
    narrow_column (\c) + \n, v24
    .endr
    .endif
.endm

/* 8 columns, by the scales at out. */
.macro eight_columns c, eight
    vsetvli zero, zero, e8, m2, ta, ma
    four_narrow \c, \eight
    four_narrow (\c) + 4, \eight
    vsetvli zero, zero, e16, m4, ta, ma
    vle16.v v24, (out)
    vwmacc.vv acc_a, narrow_a, v24
    vwmacc.vv acc_b, narrow_b, v24
.endm

/* \eight: bytes of 8 registers, or none where columns do not fill them. */
.macro multiply_pair eight, at_once
    vsetvli zero, rows, e32, m8, ta, ma
    add temp, acc, sums_bytes
    vle32.v acc_a, (acc)
    vle32.v acc_b, (temp)
    eight_columns 0, \eight
    eight_columns 8, \eight
    addi out, out, 2 * TILE
    eight_columns 16, \eight
    eight_columns 24, \eight
    addi out, out, -2 * TILE
    vsetvli zero, zero, e32, m8, ta, ma
    add temp, acc, sums_bytes
    vse32.v acc_a, (acc)
    vse32.v acc_b, (temp)
.endm

func gemm_f32_q6kx8_q8kx4_rvv, v
    enter_frame LOCALS
    csrr sums_bytes, vlenb
    slli sums_bytes, sums_bytes, 3
    li temp, 4 * TILE
    at_most sums_bytes, temp
    load_shape COLS_K_LOG2, Q6K_BYTES, Q8KX4_BYTES
    load_float scale_up, F32_MINUS_2P112, temp
    gemm_loops_k Q6K_BYTES, whole=1
    leave_frame LOCALS
    ret
endfunc
