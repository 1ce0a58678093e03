// void gemv_f32_q4kx8_q8k_neon(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                              size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon.h
// v0-v3 x of 16 columns of an even sub-block, v4-v7 of the odd one after it, each 4 columns four
// times over; v16-v23 weights; v24-v27 and v28-v31 their sums in int16 of rows 01, 23, 45, 67;
// v8-v11 sums in int32 of rows 01, 23, 45, 67; v12 mask, v13 low nibbles; v14, v15 y of 8 rows
// Clobbers x0-x13, v0-v7, v16-v31; d8-d15 are saved.
//
// Eight rows at a time. A nibble's product with x lies within 15 * 128 = 1920, 8 of them fall to
// an int16 lane in a sub-block and 16 to a lane after the pairwise add: 30720. The lane is
// multiplied by its sub-block's scale into int32. The mins come off once for 256 columns.
// 64 columns take 64 multiplications, 32 operations to part the nibbles and about 38 others,
// 256 columns 80 more: 1115 cycles for 256 columns in the model of Cortex-A53, 1.0 bytes a cycle,
// and 321 in that of Cortex-A72, 3.6 (llvm-mca 19).
#include "kernels/arm64/matrix/gemv/gemv_q4k_neon.h"

// One chunk of 8 rows: 4 columns of each sub-block.
.macro chunk rows0123, rows4567, x_even, x_odd, multiply
    and     low.16b, \rows0123\().16b, mask.16b
    ushr    \rows0123\().16b, \rows0123\().16b, #4
    \multiply   v24.8h, low.8b, \x_even\().8b
    \multiply\()2 v25.8h, low.16b, \x_even\().16b
    and     low.16b, \rows4567\().16b, mask.16b
    \multiply   v28.8h, \rows0123\().8b, \x_odd\().8b
    \multiply\()2 v29.8h, \rows0123\().16b, \x_odd\().16b
    ushr    \rows4567\().16b, \rows4567\().16b, #4
    \multiply   v26.8h, low.8b, \x_even\().8b
    \multiply\()2 v27.8h, low.16b, \x_even\().16b
    \multiply   v30.8h, \rows4567\().8b, \x_odd\().8b
    \multiply\()2 v31.8h, \rows4567\().16b, \x_odd\().16b
.endm

// 16 columns of each sub-block
.macro half multiply
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], forth
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [quants], #64
.ifc \multiply, smull
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], back
.else
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
.endif
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [quants], #64
    chunk   v16, v17, v0, v4, \multiply
    chunk   v18, v19, v1, v5, smlal
    chunk   v20, v21, v2, v6, smlal
    chunk   v22, v23, v3, v7, smlal
.endm

.macro blocks_q4k
.Lblock\@:
    add     scales, weights, #Q4K_SCALES
    add     quants, weights, #Q4K_QUANTS
    add     later, weights, ahead
    prfm    pldl1strm, [later]
    prfm    pldl1strm, [later, #64]
    movi    sums01.4s, #0
    movi    sums23.4s, #0
    movi    sums45.4s, #0
    movi    sums67.4s, #0
    mov     count, #4
.Lsub_blocks\@:
    add     later, quants, ahead
    prfm    pldl1strm, [later]
    prfm    pldl1strm, [later, #64]
    prfm    pldl1strm, [later, #128]
    prfm    pldl1strm, [later, #192]
    half    smull
    half    smlal
    ld1     {v0.16b}, [scales], #16
    movi    v1.16b, #63
    subs    count, count, #1
    addp    v24.8h, v24.8h, v25.8h
    addp    v26.8h, v26.8h, v27.8h
    and     v0.16b, v0.16b, v1.16b
    addp    v28.8h, v28.8h, v29.8h
    addp    v30.8h, v30.8h, v31.8h
    zip1    v2.16b, v0.16b, v0.16b      // each scale twice, as a row has two lanes
    zip2    v3.16b, v0.16b, v0.16b
    uxtl    v4.8h, v2.8b
    uxtl2   v5.8h, v2.16b
    uxtl    v6.8h, v3.8b
    uxtl2   v7.8h, v3.16b
    smlal   sums01.4s, v24.4h, v4.4h
    smlal2  sums23.4s, v24.8h, v4.8h
    smlal   sums45.4s, v26.4h, v5.4h
    smlal2  sums67.4s, v26.8h, v5.8h
    smlal   sums01.4s, v28.4h, v6.4h
    smlal2  sums23.4s, v28.8h, v6.8h
    smlal   sums45.4s, v30.4h, v7.4h
    smlal2  sums67.4s, v30.8h, v7.8h
    b.ne    .Lsub_blocks\@

    addp    sums01.4s, sums01.4s, sums23.4s
    addp    sums45.4s, sums45.4s, sums67.4s
    finish_block sums01, sums45
    subs    blocks_left, blocks_left, #1
    mov     weights, quants
    b.ne    .Lblock\@
.endm

func gemv_f32_q4kx8_q8k_neon, place=.early
    cbz     rows_left, 2f
    save_vectors
    lsr     n_blocks, n_blocks, #COLS_K_LOG2
    mov     forth, #32
    mov     back, #-16
    movi    mask.16b, #15
    gemv_groups blocks_q4k, acc_low, acc_high, 1f
1:
    store_ragged acc_low, acc_high, out, rows_left // of rows mod 8: nothing after whole groups
    restore_vectors
2:
    ret
endfunc gemv_f32_q4kx8_q8k_neon
