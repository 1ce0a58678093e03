// void gemm_f32_q4x8_q8x4_neon_dotprod(float *y, const void *w, const struct block_q8x4 *x,
//                                      const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_neon_dotprod.h
// v24-v31 y of 8 rows and 4 tokens, v16-v23 their sums, v0-v7 weights, v8-v15 x
// Clobbers x0-x17, v0-v7, v16-v31; x19-x25 and d8-d15 are saved.
//
// Prepared weights are 16 (nibble - 8): one exclusive or of the byte, then a shift or a mask. The
// magic that makes floats of the sums divides by 16, and the correction by 8 sum(x) never appears.
// A block of 8 rows takes a token 16 sdot and 6 others in the vector pipes, 24.8 instructions in
// all: 11.9 cycles in the model of Neoverse N1, which stands for Cortex-A76 (llvm-mca 19), where 8
// is the floor, two sdot a cycle. Two tokens have a loop of their own, 71 instructions a block for both
// (gemm_pair_neon_dotprod.h), three and four as well, 100 and 123 (gemm_four_neon_dotprod.h).
#include "kernels/arm64/matrix/gemm/gemm_four_neon_dotprod.h"
#include "kernels/arm64/matrix/gemm/gemm_prepare_neon.h"

// Two tokens: nibbles stay unsigned, and 8 times the sum of x comes off with MAGIC.
.macro pair_chunk low, high, x_chunk, x_later, group
    and     v12.16b, \low\().16b, v14.16b
    and     v13.16b, \high\().16b, v14.16b
    ushr    \low\().16b, \low\().16b, #4
    ushr    \high\().16b, \high\().16b, #4
    pair_dots v12, v13, \x_chunk, \group
    pair_dots \low, \high, \x_later, \group
.endm

.macro pair_blocks
    movi    v14.16b, #15
    movi    v15.4s, #8
.Lblock\@:
    begin_pair_block
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [first], #64
    prfm    pldl1keep, [first, #PAIR_AHEAD]
    pair_chunk v8, v9, v0, v4, 0
    pair_chunk v10, v11, v1, v5, 0
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [second], #64
    prfm    pldl1keep, [second, #PAIR_AHEAD]
    pair_chunk v8, v9, v0, v4, 1
    pair_chunk v10, v11, v1, v5, 1
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [first], last_step_of_two
    prfm    pldl1keep, [first, #PAIR_AHEAD]
    pair_chunk v8, v9, v2, v6, 0
    pair_chunk v10, v11, v3, v7, 0
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [second], last_step_of_two
    prfm    pldl1keep, [second, #PAIR_AHEAD]
    pair_chunk v8, v9, v2, v6, 1
    pair_chunk v10, v11, v3, v7, 1
    take_pair_scales
    ld1     {v8.4s, v9.4s}, [magics]
    subs    blocks_left, blocks_left, #1
    mla     v8.4s, v15.4s, v1.s[0]
    mla     v9.4s, v15.4s, v1.s[1]
    add_both v8, v9
    b.ne    .Lblock\@
.endm

// Three or four: the same.
.macro few_chunk tokens, low, high, x_chunk, x_later
    and     v4.16b, \low\().16b, v6.16b
    and     v5.16b, \high\().16b, v6.16b
    ushr    \low\().16b, \low\().16b, #4
    ushr    \high\().16b, \high\().16b, #4
    few_dots \tokens, v4, v5, \x_chunk
    few_dots \tokens, \low, \high, \x_later
.endm

.macro few_blocks tokens
    movi    v6.16b, #15
    movi    v7.4s, #8
.Lblock\@:
    begin_few_block \tokens
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [first], #64
    prfm    pldl1keep, [first, #PAIR_AHEAD]
    few_chunk \tokens, v0, v1, v8, v12
    few_chunk \tokens, v2, v3, v9, v13
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [first], last_step_of_two
    prfm    pldl1keep, [first, #PAIR_AHEAD]
    few_chunk \tokens, v0, v1, v10, v14
    few_chunk \tokens, v2, v3, v11, v15
    ld1     {v10.4s, v11.4s, v12.4s, v13.4s}, [magics]
    take_few_scales
    subs    blocks_left, blocks_left, #1
    mla     v10.4s, v7.4s, v1.s[0]
    mla     v11.4s, v7.4s, v1.s[1]
    mla     v12.4s, v7.4s, v1.s[2]
.if \tokens == 4
    mla     v13.4s, v7.4s, v1.s[3]
.endif
    add_few \tokens, v10, v11, v12, v13
    b.ne    .Lblock\@
.endm

func gemm_f32_q4x8_q8x4_neon_dotprod, dotprod
    gemm_of_two pair_blocks, Q4X8_BYTES
    gemm_of_few 3, few_blocks, Q4X8_BYTES
    gemm_of_few 4, few_blocks, Q4X8_BYTES
    gemm_tiles prepare_q4, multiply_q4, COLS_LOG2, Q8X4_BYTES, Q4_SLICE, Q4_SCRATCH
endfunc gemm_f32_q4x8_q8x4_neon_dotprod
