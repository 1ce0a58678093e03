/* Shared by the RVV gemms of the K36 types. A kernel that includes this defines decode_part,
 * decode_half (16 columns of one group, from act on, to column_at) and multiply_pair. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_K36_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_K36_RVV_H

/* From SCALE_AT on, the scratch has the scales of the current columns, int16 [2][TILE], then these
 * parts: */
#define SCALES_AT (SCALE_AT + 4 * TILE)      /* int8 [16][TILE] */
#define D_AT (SCALES_AT + 16 * TILE)         /* float [TILE] */
#define LOCALS (D_AT + 4 * TILE)

#include "kernels/riscv64/matrix/gemm/gemm_d_rvv.h"

/* Decode scales and d of the tile's block. */
.macro decode_scales
    mv act, group_at
    mv tokens_left, rows
    scratch out, SCALES_AT
    scratch step, D_AT
.Lgroup\@:
    addi temp_1, act, K36_SCALES
    li temp, TILE
    vsetivli zero, 16, e64, m8, ta, ma
    vle64.v v0, (temp_1)
    vsse64.v v0, (out), temp
    addi out, out, 8
    decode_d
    add act, act, row_bytes
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
.endm

#endif
