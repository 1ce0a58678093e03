/* void gemm_f32_q8x8_q8x4_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8x4 *restrict x,
 *                             const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 4.9 KiB
 * of stack.
 *
 * As gemm_rvv.h says, with tiles of 32 rows at VLEN 128 and 64 above. Two products of -128 and -128
 * overflow int16, so the scratch holds int16 and a block sums in int32.
 *
 * For 8 rows, 32 columns and a token: 24 instructions at VLEN 128, 12 at 256; decoding adds 0.6
 * for 64 tokens. */
#include "kernels/riscv64/matrix/gemm/gemm_int16_rvv.h"

.macro store_column reg
    vse16.v \reg, (column_at)
    add column_at, column_at, temp_1
.endm

/* Scales and weights of the tile's block. A gathered word is 4 columns of a row. */
.macro decode_tile
    vsetvli zero, rows, e16, m4, ta, ma
    vle32.v v8, (scale_offsets)
    vluxei32.v v16, (group_at), v8
    li temp, 1 << 13
    vle32.v v8, (word_offsets)
    vwmul.vx v24, v16, temp            /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m8, ta, ma
    vand.vx v24, v24, sign_bits
    vfmul.vf v24, v24, scale_up
    vse32.v v24, (tile_scales)
    mv column_at, scratch
    addi temp, group_at, QUANTS
    srli temp_1, pair_bytes, 1
    li tokens_left, 8                  /* chunks */
.Lchunk\@:
    vsetvli zero, zero, e32, m8, ta, ma
    vluxei32.v v0, (temp), v8
    vsll.vi v16, v0, 24
    vsll.vi v24, v0, 16
    vsetvli zero, zero, e16, m4, ta, ma
    vnsra.wi v16, v16, 24
    store_column v16
    vnsra.wi v24, v24, 24
    store_column v24
    vsetvli zero, zero, e32, m8, ta, ma
    vsll.vi v24, v0, 8
    vsetvli zero, zero, e16, m4, ta, ma
    vnsra.wi v24, v24, 24
    store_column v24
    vnsra.wi v16, v0, 24
    store_column v16
    addi temp, temp, 32
    addi tokens_left, tokens_left, -1
    bnez tokens_left, .Lchunk\@
.endm

func gemm_f32_q8x8_q8x4_rvv, v
    enter_frame LOCALS
    place_locals
    load_shape COLS_LOG2, Q8X8_BYTES, Q8X4_BYTES
    add act_end, act_start, group_bytes
    measure_columns pair_bytes
    gemm_loops_32 Q8X8_BYTES, e16, eight=pair_bytes
    leave_frame LOCALS
    ret
endfunc
