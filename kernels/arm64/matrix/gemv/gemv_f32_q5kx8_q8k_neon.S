// void gemv_f32_q5kx8_q8k_neon(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                              size_t cols, size_t ahead)
//
// As gemv_f32_q4kx8_q8k_neon, but for: v8, v9 sums in int32 of rows 0-3 and 4-7; v16, v17 nibbles
// and v18, v19 fifth bits of a chunk; v20, v21 what shifts the fifth bits of a sub-block to bit 4,
// v22 five bits
// Clobbers x0-x15, v0-v7, v16-v31; d8-d15 are saved.
//
// A product with x lies within 31 * 128 = 3968, and 8 of them fall to an int16 lane in a sub-block:
// 31744. So pairs of lanes are added as int32.
#include "kernels/arm64/matrix/gemv/gemv_q4k_neon.h"

#define high x14                // fifth bits of the next chunk

#define sums0123 v8
#define sums4567 v9
#define shift_low v20
#define shift_high v21
#define five_bits v22

// 4 rows of a chunk: their nibbles, fifth bits and sums.
.macro four_rows nibbles, bits, sum_even, sum_even2, sum_odd, sum_odd2, x_even, x_odd, multiply
    ushl    low.16b, \bits\().16b, shift_low.16b
    ushl    \bits\().16b, \bits\().16b, shift_high.16b
    bit     low.16b, \nibbles\().16b, mask.16b
    sri     \bits\().16b, \nibbles\().16b, #4
    and     low.16b, low.16b, five_bits.16b
    and     \bits\().16b, \bits\().16b, five_bits.16b
    \multiply   \sum_even\().8h, low.8b, \x_even\().8b
    \multiply\()2 \sum_even2\().8h, low.16b, \x_even\().16b
    \multiply   \sum_odd\().8h, \bits\().8b, \x_odd\().8b
    \multiply\()2 \sum_odd2\().8h, \bits\().16b, \x_odd\().16b
.endm

.macro chunk x_even, x_odd, multiply
    ld1     {v16.16b, v17.16b}, [quants], #32
    ld1     {v18.16b, v19.16b}, [high], #32
    four_rows v16, v18, v24, v25, v28, v29, \x_even, \x_odd, \multiply
    four_rows v17, v19, v26, v27, v30, v31, \x_even, \x_odd, \multiply
.endm

// 16 columns of each sub-block
.macro half multiply
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], forth
.ifc \multiply, smull
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], back
.else
    ld4r    {v4.4s, v5.4s, v6.4s, v7.4s}, [block], #16
.endif
    chunk   v0, v4, \multiply
    chunk   v1, v5, smlal
    chunk   v2, v6, smlal
    chunk   v3, v7, smlal
.endm

// The sums of two sub-blocks by their scales at `scales`.
.macro add_sub_blocks
    ld1     {v0.16b}, [scales], #16
    movi    v1.16b, #63
    saddlp  v24.4s, v24.8h
    saddlp  v25.4s, v25.8h
    saddlp  v26.4s, v26.8h
    saddlp  v27.4s, v27.8h
    saddlp  v28.4s, v28.8h
    saddlp  v29.4s, v29.8h
    saddlp  v30.4s, v30.8h
    saddlp  v31.4s, v31.8h
    and     v0.16b, v0.16b, v1.16b
    addp    v24.4s, v24.4s, v25.4s
    addp    v26.4s, v26.4s, v27.4s
    uxtl    v1.8h, v0.8b
    uxtl2   v2.8h, v0.16b
    addp    v28.4s, v28.4s, v29.4s
    addp    v30.4s, v30.4s, v31.4s
    uxtl    v4.4s, v1.4h
    uxtl2   v5.4s, v1.8h
    uxtl    v6.4s, v2.4h
    uxtl2   v7.4s, v2.8h
    mla     sums0123.4s, v24.4s, v4.4s
    mla     sums4567.4s, v26.4s, v5.4s
    mla     sums0123.4s, v28.4s, v6.4s
    mla     sums4567.4s, v30.4s, v7.4s
.endm

.macro blocks_q5k
.Lblock\@:
    add     scales, weights, #Q4K_SCALES
    add     quants, weights, #Q4K_QUANTS
    add     high, weights, #Q5K_HIGH
    add     later, weights, ahead
    prfm    pldl1strm, [later]
    prfm    pldl1strm, [later, #64]
    movi    sums0123.4s, #0
    movi    sums4567.4s, #0
    movi    shift_low.16b, #4
    movi    shift_high.16b, #3
    movi    five_bits.16b, #31
    mov     count, #4
.Lsub_blocks\@:
    add     later, quants, ahead
    prfm    pldl1strm, [later]
    prfm    pldl1strm, [later, #64]
    prfm    pldl1strm, [later, #128]
    prfm    pldl1strm, [later, #192]
    prfm    pldl1strm, [later, #1024]   // a line of fifth bits for every four of nibbles
    half    smull
    half    smlal
    movi    v23.16b, #2
    sub     high, high, #256
    sub     shift_low.16b, shift_low.16b, v23.16b
    sub     shift_high.16b, shift_high.16b, v23.16b
    add_sub_blocks
    subs    count, count, #1
    b.ne    .Lsub_blocks\@
    finish_block sums0123, sums4567
    add     weights, weights, #Q5K_BYTES
    subs    blocks_left, blocks_left, #1
    b.ne    .Lblock\@
.endm

func gemv_f32_q5kx8_q8k_neon, place=.early
    cbz     rows_left, 2f
    save_vectors
    lsr     n_blocks, n_blocks, #COLS_K_LOG2
    mov     forth, #32
    mov     back, #-16
    movi    mask.16b, #15
    gemv_groups blocks_q5k, acc_low, acc_high, 1f
1:
    store_ragged acc_low, acc_high, out, rows_left // of rows mod 8: nothing after whole groups
    restore_vectors
2:
    ret
endfunc gemv_f32_q5kx8_q8k_neon
