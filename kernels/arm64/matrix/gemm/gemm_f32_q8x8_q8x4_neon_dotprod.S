// void gemm_f32_q8x8_q8x4_neon_dotprod(float *y, const void *w, const struct block_q8x4 *x,
//                                      const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// The weights are used where they lie; only the scales of a slice are prepared, as f32. A block
// of 8 rows takes a token 16 sdot and 6 others in the vector pipes, 24.8 instructions in all: 11.3
// cycles in the model of Neoverse N1, which stands for Cortex-A76 (llvm-mca 19), where 8 is the
// floor, two sdot a cycle. Two tokens have a loop of their own, 58 instructions a block for both
// (gemm_pair_neon_dotprod.h), three and four as well, 84 and 106 (gemm_four_neon_dotprod.h).
#include "kernels/arm64/matrix/gemm/gemm_four_neon_dotprod.h"
#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Two tokens, 8 columns of 8 rows: the next 64 bytes of a group, the last ones moving it by `step_to_next`.
.macro pair_columns group, number, x_first, x_second, step_to_next
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [\group], \step_to_next
    prfm    pldl1keep, [\group, #PAIR_AHEAD]
    pair_dots v8, v9, \x_first, \number
    pair_dots v10, v11, \x_second, \number
.endm

.macro pair_blocks
    ld1     {v14.4s}, [magics]
.Lblock\@:
    begin_pair_block
    pair_columns first, 0, v0, v1, #64
    pair_columns second, 1, v0, v1, #64
    pair_columns first, 0, v2, v3, #64
    pair_columns second, 1, v2, v3, #64
    pair_columns first, 0, v4, v5, #64
    pair_columns second, 1, v4, v5, #64
    pair_columns first, 0, v6, v7, last_step_of_two
    pair_columns second, 1, v6, v7, last_step_of_two
    take_pair_scales
    subs    blocks_left, blocks_left, #1
    add_both v14, v14
    b.ne    .Lblock\@
.endm

// Three or four, 8 columns of 8 rows.
.macro few_columns tokens, x_first, x_second, step_to_next
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [first], \step_to_next
    prfm    pldl1keep, [first, #PAIR_AHEAD]
    few_dots \tokens, v0, v1, \x_first
    few_dots \tokens, v2, v3, \x_second
.endm

.macro few_blocks tokens
    ld1     {v7.4s}, [magics]
.Lblock\@:
    begin_few_block \tokens
    few_columns \tokens, v8, v9, #64
    few_columns \tokens, v10, v11, #64
    few_columns \tokens, v12, v13, #64
    few_columns \tokens, v14, v15, last_step_of_two
    take_few_scales
    subs    blocks_left, blocks_left, #1
    add_few \tokens, v7, v7, v7, v7
    b.ne    .Lblock\@
.endm

.macro block_q8
    dot_32_columns seeds, last_step
    ld1     {v8.4s, v9.4s, v10.4s}, [w_scale], #PREPARED_SCALES
    ld1     {v11.4s}, [x_block], step
    add_scaled
.endm

// Two blocks at a time; an odd count enters in the middle.
.macro multiply_q8
    mov     last_step, #64 + QUANTS         // over the scales of the next block
    tbz     blocks_left, #0, .Ltwo_blocks\@
    add     blocks_left, blocks_left, #1
    b       .Lsecond\@
.Ltwo_blocks\@:
    block_q8
.Lsecond\@:
    block_q8
    subs    blocks_left, blocks_left, #2
    b.ne    .Ltwo_blocks\@
.endm

func gemm_f32_q8x8_q8x4_neon_dotprod, dotprod
    gemm_of_two pair_blocks, Q8X8_BYTES
    gemm_of_few 3, few_blocks, Q8X8_BYTES
    gemm_of_few 4, few_blocks, Q8X8_BYTES
    gemm_tiles prepare_q8, multiply_q8, COLS_LOG2, Q8X4_BYTES, Q8_SLICE, Q8_SCRATCH
endfunc gemm_f32_q8x8_q8x4_neon_dotprod
