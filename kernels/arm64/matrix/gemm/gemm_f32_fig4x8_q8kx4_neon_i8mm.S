// void gemm_f32_fig4x8_q8kx4_neon_i8mm(float *y, const void *w, const struct block_q8kx4 *x,
//                                   const struct gemm_shape *shape,
//                                   const struct nibble_table *table)
//
// x0 y  x1 w  x2 x  x3 shape  x4 table; the loops are in gemm_neon_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved.
//
// Prepared weights are the values of the nibbles, turned to pairs of rows.
#include "kernels/arm64/matrix/gemm/gemm_fig4_neon.h"
#include "kernels/arm64/matrix/gemm/gemm_neon_i8mm.h"

// If a row ends with one half, what lies in the place of the other is turned, too.
.macro prepare_fig4_pairs
    prepare_fig4
    pair_quants 5
.endm

.macro half_pairs
    mov     temp, #FIG4_COLS / BLOCK_COLS
.Lrun\@:
    pairs_16_columns
    pairs_16_columns
    subs    temp, temp, #1
    b.ne    .Lrun\@
.endm

.macro add_half
    ld1     {v5.4s}, [temp]
    add_pairs
.endm

.macro multiply_fig4
    rows_to_pairs
    multiply_halves half_pairs, add_half
    pairs_to_rows
.endm

func gemm_f32_fig4x8_q8kx4_neon_i8mm, i8mm
    take_arguments
    gemm_tiles prepare_fig4_pairs, multiply_fig4, COLS_K_LOG2, Q8KX4_BYTES, FIG4_SLICE, FIG4_SCRATCH, keep_arguments
endfunc gemm_f32_fig4x8_q8kx4_neon_i8mm
