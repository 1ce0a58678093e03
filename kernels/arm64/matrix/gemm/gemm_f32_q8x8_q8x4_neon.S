// void gemm_f32_q8x8_q8x4_neon(float *y, const void *w, const struct block_q8x4 *x,
//                              const struct gemm_shape *shape)
//
// x0-x17 as named in gemm_neon.h. In a tile: v0-v7 8 columns of 4 tokens, each chunk of 4 four
// times over; v8-v11 weights; v12-v15 products in int16; v16-v31 their sums in int32, of a token
// rows 01, 23, 45, 67.
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved. 2.1 KiB of stack.
//
// The weights are used where they lie, a slice of 512 columns at a time, so that they stay in L1
// while the tokens pass; y takes all other registers' place, so it stays on the stack. As in the
// gemv, two products fit an int16 unless both are -128 * -128; x is searched for -128 once per
// call and where there is one, every product is widened by itself.
// A block and token take 32 multiplications, 16 widening adds, 8 operations to fold, scale and
// add, and 6 others: 63. 99 cycles in the model of Cortex-A53, 38 in that of Cortex-A72 (llvm-mca
// 19). Two tokens have a loop of their own, 135 instructions a block for both (gemm_pair_neon.h), and three,
// 192 (gemm_three_neon.h).
#include "kernels/arm64/matrix/gemm/gemm_int8_neon.h"
#include "kernels/arm64/matrix/gemm/gemm_three_neon.h"

#define SLICE_BLOCKS 16
#define least w14

.macro decode
.endm

.macro tile_wrapping
    mov     tile_weights, weights
    tile    block_sums
.endm

.macro tile_exact
    mov     tile_weights, weights
    tile    block_sums_exact
.endm

// Past the slice, whose weights every tile read where they lie
.macro slice_end
    mov     count, #Q8X8_BYTES
    madd    weights, slice, count, weights
.endm

// least = the least of x, whose `count` blocks are 0 or more.
.macro find_least
    mov     tile_acts, acts
    movi    v16.16b, #0
    movi    v17.16b, #0
    cbz     count, .Lfound\@
.Lblock\@:
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [tile_acts], #64
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [tile_acts], #64
    subs    count, count, #1
    add     tile_acts, tile_acts, #32
    smin    v0.16b, v0.16b, v1.16b
    smin    v2.16b, v2.16b, v3.16b
    smin    v4.16b, v4.16b, v5.16b
    smin    v6.16b, v6.16b, v7.16b
    smin    v0.16b, v0.16b, v2.16b
    smin    v4.16b, v4.16b, v6.16b
    smin    v16.16b, v16.16b, v0.16b
    smin    v17.16b, v17.16b, v4.16b
    b.ne    .Lblock\@
.Lfound\@:
    smin    v16.16b, v16.16b, v17.16b
    sminv   b16, v16.16b
    smov    least, v16.b[0]
.endm

// ---- two tokens: products of two chunks fit an int16, so a -128 in x is left to the other loops

.macro refuse_least label
    mov     count, n_blocks
    find_least
    cmn     least, #128
    b.eq    \label
.endm

.macro pair_widen pairwise, rows01, rows23, rows45, rows67
    \pairwise \rows01\().4s, v14.8h
    \pairwise \rows23\().4s, v15.8h
    \pairwise \rows45\().4s, v28.8h
    \pairwise \rows67\().4s, v29.8h
.endm

// Two chunks of both tokens: v4-v7 by x_first and x_second of either.
.macro pair_chunks pairwise, x_first0, x_first1, x_second0, x_second1
    token_products v14, v15, v28, v29, \x_first0, v4, v5, smull
    token_products v14, v15, v28, v29, \x_second0, v6, v7, smlal
    pair_widen \pairwise, v16, v17, v18, v19
    token_products v14, v15, v28, v29, \x_first1, v4, v5, smull
    token_products v14, v15, v28, v29, \x_second1, v6, v7, smlal
    pair_widen \pairwise, v20, v21, v22, v23
.endm

// 8 columns: the next of weights, and of x.
.macro pair_columns pairwise
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [weights], #64
    ld2r    {v0.4s, v1.4s}, [tile_acts], x_step
    prfm    pldl1strm, [weights, #PAIR_AHEAD]
    ld2r    {v2.4s, v3.4s}, [tile_acts], x_step
    pair_chunks \pairwise, v0, v1, v2, v3
.endm

.macro pair_blocks
.Lblock\@:
    ld1     {v31.8h}, [weights], #16
    pair_columns saddlp
    pair_columns sadalp
    pair_columns sadalp
    pair_columns sadalp
    ld1     {v0.4s, v1.4s}, [tile_acts], #32 // d and sum
    subs    blocks_left, blocks_left, #1
    addp    v16.4s, v16.4s, v17.4s
    addp    v18.4s, v18.4s, v19.4s
    addp    v20.4s, v20.4s, v21.4s
    addp    v22.4s, v22.4s, v23.4s
    add_pair
    b.ne    .Lblock\@
.endm

// Three: two chunks, v6-v9 by x_first and x_second of a token, to its sums.
.macro three_chunks pairwise, x_first, x_second, rows01, rows23, rows45, rows67
    token_products v28, v29, v30, v31, \x_first, v6, v7, smull
    token_products v28, v29, v30, v31, \x_second, v8, v9, smlal
    \pairwise \rows01\().4s, v28.8h
    \pairwise \rows23\().4s, v29.8h
    \pairwise \rows45\().4s, v30.8h
    \pairwise \rows67\().4s, v31.8h
.endm

.macro three_columns pairwise, step_to_next
    ld1     {v6.16b, v7.16b, v8.16b, v9.16b}, [weights], \step_to_next
    ld3r    {v0.4s, v1.4s, v2.4s}, [tile_acts], x_step
    prfm    pldl1strm, [weights, #PAIR_AHEAD]
    ld3r    {v3.4s, v4.4s, v5.4s}, [tile_acts], x_step
    three_chunks \pairwise, v0, v3, v16, v17, v18, v19
    three_chunks \pairwise, v1, v4, v20, v21, v22, v23
    three_chunks \pairwise, v2, v5, v24, v25, v26, v27
.endm

.macro three_blocks
    mov     scale_at, weights
    add     weights, weights, #QUANTS
    mov     block_step, #Q8X8_BYTES
    mov     last_step, #64 + QUANTS
.Lblock\@:
    three_columns saddlp, #64
    three_columns sadalp, #64
    three_columns sadalp, #64
    three_columns sadalp, last_step
    ld1     {v0.4s, v1.4s}, [tile_acts], #32 // d and sum
    ld1     {v31.8h}, [scale_at], block_step
    subs    blocks_left, blocks_left, #1
    fold_three 4s
    add_three
    b.ne    .Lblock\@
    mov     weights, scale_at
.endm

func gemm_f32_q8x8_q8x4_neon
    gemm_of_two pair_blocks, refuse_least
    gemm_of_three three_blocks, refuse_least
    gemm_begin 0, COLS_LOG2, Q8X4_BYTES
    add     count, tokens_left, #3
    lsr     count, count, #2
    mul     count, count, n_blocks
    find_least
    cmn     least, #128
    b.eq    3f
    gemm_loops decode, tile_wrapping, Q8X4_BYTES, SLICE_BLOCKS, slice_end
    b       4f
3:
    gemm_loops decode, tile_exact, Q8X4_BYTES, SLICE_BLOCKS, slice_end
4:
    gemm_end 0
endfunc gemm_f32_q8x8_q8x4_neon
