// void gemm_f32_q4x8_q8x4_neon(float *y, const void *w, const struct block_q8x4 *x,
//                              const struct gemm_shape *shape)
//
// x0-x17, x19-x26 as named in gemm_wide_neon.h. In a tile: v0-v7 pairs of columns of 4 tokens, each eight
// times over; v8-v15 weights, then scales and y; v16-v31 sums in int16, 16 rows of a token in four.
// Clobbers x0-x17, v0-v7, v16-v31; x19-x26 and d8-d15 are saved. 10.8 KiB of stack.
//
// Nibbles are centred and spread to int8 once for all tokens, 576 columns at a time. Their
// products with x lie within 8 * 128 = 1024, and 16 of them fall to an int16 lane in a block: 16384. A
// block and token take 32 multiplications, 8 operations to fold, scale and add, and 4.5 others: 44.5.
// The loop takes 66 cycles in the model of Cortex-A53, 36 in that of Cortex-A72 (llvm-mca 19), where 32 is the
// floor, one multiplication a cycle.
// Two tokens have a loop of their own, 122 instructions a block for both (gemm_pair_neon.h), and three,
// 168 (gemm_three_neon.h).
#include "kernels/arm64/matrix/gemm/gemm_three_neon.h"
#include "kernels/arm64/matrix/gemm/gemm_wide_neon.h"

#define mask v30

// Two tokens: nibbles stay unsigned, and 8 times the sum of x comes off in the end.
.macro pair_chunk low, high, x_first, x_second, multiply
    and     v28.16b, \low\().16b, mask.16b
    and     v29.16b, \high\().16b, mask.16b
    next_chunk                          // 16 columns on
    token_products v16, v17, v18, v19, \x_first, v28, v29, \multiply
    ushr    \low\().16b, \low\().16b, #4
    ushr    \high\().16b, \high\().16b, #4
    token_products v20, v21, v22, v23, \x_second, v28, v29, \multiply
    token_products v16, v17, v18, v19, v12, \low, \high, smlal
    token_products v20, v21, v22, v23, v13, \low, \high, smlal
.endm

.macro pair_blocks
    movi    mask.16b, #15
    movi    v14.4s, #8
.Lblock\@:
    ld1     {v31.8h}, [weights], #16
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    first_chunks
    prfm    pldl1strm, [weights, #PAIR_AHEAD]
    pair_chunk v4, v5, v0, v1, smull
    pair_chunk v6, v7, v2, v3, smlal
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    prfm    pldl1strm, [weights, #PAIR_AHEAD]
    pair_chunk v4, v5, v8, v9, smlal
    pair_chunk v6, v7, v10, v11, smlal
    ld1     {v0.4s, v1.4s}, [tile_acts], #32 // d and sum
    subs    blocks_left, blocks_left, #1
    addp    v16.8h, v16.8h, v17.8h
    addp    v18.8h, v18.8h, v19.8h
    addp    v20.8h, v20.8h, v21.8h
    addp    v22.8h, v22.8h, v23.8h
    saddlp  v16.4s, v16.8h
    saddlp  v18.4s, v18.8h
    saddlp  v20.4s, v20.8h
    saddlp  v22.4s, v22.8h
    mls     v16.4s, v14.4s, v1.s[0]
    mls     v18.4s, v14.4s, v1.s[0]
    mls     v20.4s, v14.4s, v1.s[1]
    mls     v22.4s, v14.4s, v1.s[1]
    add_pair
    b.ne    .Lblock\@
.endm

// Three: the same. Low nibbles by the next columns of x, high ones by those 16 further on.
.macro three_chunk low, high, multiply
    ld3r    {v0.4s, v1.4s, v2.4s}, [tile_acts], x_step
    and     v28.16b, \low\().16b, mask.16b
    and     v29.16b, \high\().16b, mask.16b
    token_products v16, v17, v18, v19, v0, v28, v29, \multiply
    ushr    \low\().16b, \low\().16b, #4
    ushr    \high\().16b, \high\().16b, #4
    token_products v20, v21, v22, v23, v1, v28, v29, \multiply
    token_products v24, v25, v26, v27, v2, v28, v29, \multiply
    ld3r    {v0.4s, v1.4s, v2.4s}, [later_acts], x_step
    token_products v16, v17, v18, v19, v0, \low, \high, smlal
    token_products v20, v21, v22, v23, v1, \low, \high, smlal
    token_products v24, v25, v26, v27, v2, \low, \high, smlal
.endm

.macro three_blocks
    add     later_acts, tile_acts, #64
    movi    mask.16b, #15
    movi    v9.4s, #8
.Lblock\@:
    ld1     {v31.8h}, [weights], #16
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    prfm    pldl1strm, [weights, #PAIR_AHEAD]
    three_chunk v4, v5, smull
    three_chunk v6, v7, smlal
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    prfm    pldl1strm, [weights, #PAIR_AHEAD]
    three_chunk v4, v5, smlal
    three_chunk v6, v7, smlal
    ld1     {v0.4s, v1.4s}, [later_acts], #32 // d and sum
    subs    blocks_left, blocks_left, #1
    fold_three 8h
    mov     tile_acts, later_acts
    each_of_three saddlp, 8h
    add     later_acts, later_acts, #64
    mls     v16.4s, v9.4s, v1.s[0]
    mls     v18.4s, v9.4s, v1.s[0]
    mls     v20.4s, v9.4s, v1.s[1]
    mls     v22.4s, v9.4s, v1.s[1]
    mls     v24.4s, v9.4s, v1.s[2]
    mls     v26.4s, v9.4s, v1.s[2]
    add_three
    b.ne    .Lblock\@
.endm

func gemm_f32_q4x8_q8x4_neon
    gemm_of_two pair_blocks
    gemm_of_three three_blocks
    gemm_wide
endfunc gemm_f32_q4x8_q8x4_neon
