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
// 19).
#include "kernels/arm64/gemm_neon.h"

#define SLICE_BLOCKS 16
#define least w14

.macro decode
.endm

.macro widen pairwise, rows01, rows23, rows45, rows67
    \pairwise   \rows01\().4s, v12.8h
    \pairwise   \rows23\().4s, v13.8h
    \pairwise   \rows45\().4s, v14.8h
    \pairwise   \rows67\().4s, v15.8h
.endm

// The sums of a token (+)= 8 columns
.macro token_pair pairwise, rows01, rows23, rows45, rows67, x_first, x_second
    token_products v12, v13, v14, v15, \x_first, v8, v9, smull
    token_products v12, v13, v14, v15, \x_second, v10, v11, smlal
    widen \pairwise, \rows01, \rows23, \rows45, \rows67
.endm

.macro pair pairwise
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [tile_acts], #16
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [tile_weights], #64
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [tile_acts], #16
    token_pair \pairwise, v16, v17, v18, v19, v0, v4
    token_pair \pairwise, v20, v21, v22, v23, v1, v5
    token_pair \pairwise, v24, v25, v26, v27, v2, v6
    token_pair \pairwise, v28, v29, v30, v31, v3, v7
.endm

// The same for one chunk, nothing added in 16 bits
.macro token_single rows01, rows23, rows45, rows67, x_chunk
    token_products v12, v13, v14, v15, \x_chunk, v8, v9, smull
    widen sadalp, \rows01, \rows23, \rows45, \rows67
.endm

.macro block_sums
    pair    saddlp
    pair    sadalp
    pair    sadalp
    pair    sadalp
.endm

.macro block_sums_exact
.irp sum, v16.4s, v17.4s, v18.4s, v19.4s, v20.4s, v21.4s, v22.4s, v23.4s, \
      v24.4s, v25.4s, v26.4s, v27.4s, v28.4s, v29.4s, v30.4s, v31.4s
    movi    \sum, #0
.endr
    add     tile_scales, tile_weights, #256
.Lchunk\@:
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [tile_acts], #16
    ld1     {v8.16b, v9.16b}, [tile_weights], #32
    token_single v16, v17, v18, v19, v0
    token_single v20, v21, v22, v23, v1
    token_single v24, v25, v26, v27, v2
    token_single v28, v29, v30, v31, v3
    cmp     tile_weights, tile_scales
    b.ne    .Lchunk\@
.endm

.macro tile sums
    mov     count, slice
    mov     tile_weights, weights
.Lblock\@:
    add     tile_weights, tile_weights, #QUANTS
    \sums
    sub     tile_scales, tile_weights, #Q8X8_BYTES
    ld1     {v0.4s, v1.4s}, [tile_acts], #32 // d and sum
    ld1     {v2.8h}, [tile_scales]
    addp    v16.4s, v16.4s, v17.4s
    addp    v18.4s, v18.4s, v19.4s
    fcvtl   v3.4s, v2.4h
    fcvtl2  v4.4s, v2.8h
    addp    v20.4s, v20.4s, v21.4s
    addp    v22.4s, v22.4s, v23.4s
    addp    v24.4s, v24.4s, v25.4s
    addp    v26.4s, v26.4s, v27.4s
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_out], #64
    addp    v28.4s, v28.4s, v29.4s
    addp    v30.4s, v30.4s, v31.4s
    ld1     {v12.4s, v13.4s, v14.4s, v15.4s}, [tile_out]
    each_sum scvtf, 4s
    scale_tokens v3, v4, v0
    sub     tile_out, tile_out, #64
    subs    count, count, #1
    add_tokens fmla, v8, v9, v10, v11, v12, v13, v14, v15
    st1     {v8.4s, v9.4s, v10.4s, v11.4s}, [tile_out], #64
    st1     {v12.4s, v13.4s, v14.4s, v15.4s}, [tile_out]
    sub     tile_out, tile_out, #64
    b.ne    .Lblock\@
    add     tile_out, tile_out, #128
.endm

.macro tile_wrapping
    tile    block_sums
.endm

.macro tile_exact
    tile    block_sums_exact
.endm

// Past the slice, whose weights every tile read where they lie
.macro slice_end
    mov     count, #Q8X8_BYTES
    madd    weights, slice, count, weights
.endm

func gemm_f32_q8x8_q8x4_neon
    gemm_begin 0, COLS_LOG2, Q8X4_BYTES

    add     count, tokens_left, #3
    lsr     count, count, #2
    mul     count, count, n_blocks
    mov     tile_acts, acts
    movi    v16.16b, #0
    movi    v17.16b, #0
    cbz     count, 2f
1:
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
    b.ne    1b
2:
    smin    v16.16b, v16.16b, v17.16b
    sminv   b16, v16.16b
    smov    least, v16.b[0]
    cmn     least, #128
    b.eq    3f
    gemm_loops decode, tile_wrapping, Q8X4_BYTES, SLICE_BLOCKS, slice_end
    b       4f
3:
    gemm_loops decode, tile_exact, Q8X4_BYTES, SLICE_BLOCKS, slice_end
4:
    gemm_end 0
endfunc gemm_f32_q8x8_q8x4_neon
