// void gemm_f32_fig4x8_q8kx4_neon_dotprod(float *y, const void *w, const struct block_q8kx4 *x,
//                                      const struct gemm_shape *shape,
//                                      const struct nibble_table *table)
//
// x0 y  x1 w  x2 x  x3 shape  x4 table; the loops are in gemm_neon_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved.
//
// Prepared weights are the values of the nibbles. Sums of 128 columns stay below 2^21, as MAGIC demands.
#include "kernels/arm64/matrix/gemm/gemm_fig4_neon.h"

.macro half_dots
    mov     temp, #FIG4_COLS / BLOCK_COLS
.Lrun\@:
    add_32_columns #64
    subs    temp, temp, #1
    b.ne    .Lrun\@
.endm

.macro add_half
    ld1     {v8.4s, v9.4s, v10.4s}, [w_scale], #PREPARED_SCALES
    ld1     {v11.4s}, [temp]
    add_scaled
.endm

.macro multiply_fig4
    multiply_halves half_dots, add_half
.endm

func gemm_f32_fig4x8_q8kx4_neon_dotprod, dotprod
    take_arguments
    gemm_tiles prepare_fig4, multiply_fig4, COLS_K_LOG2, Q8KX4_BYTES, FIG4_SLICE, FIG4_SCRATCH, keep_arguments
endfunc gemm_f32_fig4x8_q8kx4_neon_dotprod
