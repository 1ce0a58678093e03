/* For the RVV gemms of gemm_k_rvv.h that unpack to a scratch: unpacks the weights of 32 columns,
 * and adds a token's sums over these columns to the token's int32 sums. A kernel that includes
 * this defines decode_half, which decodes 16 columns of one group, from act on, to column_at. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_SUMS_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_SUMS_RVV_H

/* acc += scale * dots, or acc += dots with SUMS_UNSCALED, with acc at temp and scales at temp_1, for
 * half of the tile's rows. */
.macro combine_half dots, half_rows
    vsetvli zero, \half_rows, e16, m4, ta, ma
    vle32.v v16, (temp)
#ifdef SUMS_UNSCALED
    vwadd.wv v16, v16, \dots
#else
    vle16.v v24, (temp_1)
    vwmacc.vv v16, \dots, v24
#endif
    vse32.v v16, (temp)
.endm

/* dots_high is the second half of \dots; \token is 0 or 1; scales are at out. */
.macro combine dots, dots_high, token
    mv temp_1, out
    addi temp, acc, 4 * TILE * \token
    combine_half \dots, rows_low
    beqz rows_high, .Lcombined\@
    slli temp_1, rows_low, 2
    add temp, temp, temp_1
    slli temp_1, rows_low, 1
    add temp_1, temp_1, out
    combine_half \dots_high, rows_high
.Lcombined\@:
.endm

/* Decode weights of 32 columns: for each group 16 columns from act on, with other bits at act +
 * step, then the next 16. */
.macro decode_weights
    mv out, sp
    mv tokens_left, rows
.Lgroup\@:
    mv column_at, out
    decode_half
    addi act, act, 128
    addi column_at, column_at, 13 * TILE
    decode_half
    addi act, act, -128
    add act, act, row_bytes
    addi out, out, 8
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
.endm

/* Store v16, 16 columns of one group, to column_at. */
.macro store_half
    part_columns temp
    li temp, 4 * TILE
    vsetivli zero, 4, e64, m2, ta, ma  /* 8 rows of columns f, f + 4, f + 8, f + 12 */
    store_columns v0, v2, v4, v6
.endm

#endif
