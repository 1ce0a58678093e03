/* RVV gemms of the K formats that store a weight's bits in separate planes and have mins. A kernel
 * that includes this defines MINS, the number of mins in a block (8 or 16), and what gemm_rvv.h
 * requires. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_K16_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_K16_RVV_H

/* From SCALE_AT on, the scratch has the scales of the current columns, int16 [2][TILE], then these
 * parts: */
#define SCALES_AT (SCALE_AT + 4 * TILE)      /* uint8 [MINS][TILE] */
#define MINS_AT (SCALES_AT + MINS * TILE)    /* uint8 [MINS][TILE] */
#define D_AT (MINS_AT + MINS * TILE)         /* float [TILE] */
#define DMIN_AT (D_AT + 4 * TILE)            /* float [TILE] */
#define SUMS_AT (DMIN_AT + 4 * TILE)         /* int16 [TOKENS][16]: sums of x; MINS of 16 are used */
#define LOCALS (SUMS_AT + 32 * TOKENS)

#include "kernels/riscv64/matrix/gemm/gemm_mins_rvv.h"
#include "kernels/riscv64/matrix/gemm/gemm_sums_rvv.h"

/* Load the chunk's sums of activations, token by token, and clear its int32 sums. */
.macro begin_chunk
    addi act, chunk_act, Q8KX4_SUM
    scratch out, SUMS_AT
    mv tokens_left, chunk_tokens
.Ltokens\@:
    .irp token, 0, 1, 2, 3
    addi temp_1, act, 2*\token
    vsetivli zero, MINS, e16, m2, ta, ma
    .if MINS == 8
    li temp, 16
    vlse16.v v0, (temp_1), temp
    addi temp_1, temp_1, 8
    vlse16.v v2, (temp_1), temp
    vadd.vv v0, v0, v2
    .else
    li temp, 8
    vlse16.v v0, (temp_1), temp
    .endif
    vse16.v v0, (out)
    addi out, out, 32
    .endr
    add act, act, group_bytes
    addi tokens_left, tokens_left, -4
    bgtz tokens_left, .Ltokens\@
    clear_sums
.endm

/* y = fma(-imin, dmin * x.d, fma(isum, d * x.d, y)) for the half of the rows that starts at row
 * temp; y is at chunk_out. The token's number is computed from acc. */
.macro finish_half token, half_rows
    scratch out, ACC_AT
    sub out, acc, out
    srli out, out, 3
    scratch temp_1, SUMS_AT
    add out, out, temp_1
    scratch column_at, MINS_AT
    add column_at, column_at, temp
    slli temp, temp, 2
    vsetvli zero, \half_rows, e16, m4, ta, ma
    .irp j, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \j < MINS
    vle8.v v24, (column_at)
    lh temp_1, 2*\j(out)
    addi column_at, column_at, TILE
    vzext.vf2 v28, v24
    .if \j == 0
    vwmul.vx v0, v28, temp_1
    .else
    vwmacc.vx v0, temp_1, v28
    .endif
    .endif
    .endr
    vsetvli zero, zero, e32, m8, ta, ma
    scratch column_at, D_AT
    add column_at, column_at, temp
    add temp_1, acc, temp
    add temp, temp, chunk_out
    vle32.v v8, (temp_1)
    vle32.v v16, (column_at)
    vle32.v v24, (temp)
    vfcvt.f.x.v v8, v8
    vfmul.vf v16, v16, act_scale
    vfcvt.f.x.v v0, v0
    vfmacc.vv v24, v8, v16
    addi column_at, column_at, DMIN_AT - D_AT
    vle32.v v16, (column_at)
    vfmul.vf v16, v16, act_scale
    vfnmsac.vv v24, v0, v16
    vse32.v v24, (temp)
.endm

.macro second_half
    mv temp, rows_low
.endm

/* Write row temp_1 of the tile's scales as int16 to row \to of the current columns' scales. */
.macro take_scales to
    slli temp_1, temp_1, 6             /* TILE */
    scratch temp, SCALES_AT
    add temp_1, temp_1, temp
    vsetvli zero, rows, e16, m8, ta, ma
    vle8.v v0, (temp_1)
    vzext.vf2 v8, v0
    addi temp, scale_at, \to * 2 * TILE
    vse16.v v8, (temp)
.endm

#endif
