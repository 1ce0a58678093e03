// void gemv_f32_q6kx8_q8k_neon(float *y, const void *w, const struct block_q8k *x, size_t rows,
//                              size_t cols, size_t ahead)
//
// x0 y; x1 w; x2 x; x3 rows; x4 cols; x5 ahead; the loop is in gemv_neon.h;
// v0-v3 x of a sub-block of 16 columns, each 4 columns repeated four times; v4-v7 weights; v8, v9
// sums of 8 rows in int32; v10 low mask; v11 high bits to be inverted; v12, v13 y of 8 rows;
// v16-v23 high bits of 16 columns l, for sub-blocks of columns l, l + 32, l + 64, l + 96; v24-v27
// low bits; v28-v31 sums in int16 of rows 01, 23, 45, 67.
// Clobbers x0-x17, v0-v7, v16-v31; d8-d15 are saved.
//
// The kernel takes eight rows at a time. If the highest bit of q is inverted, the 6 bits are q - 32
// as a signed number: shifts left and right extend the sign and make room for the low nibble, which
// one `bit` or `sri` instruction inserts. The product with x is at most 32 * 128, and an int16 lane
// adds 4 of them: 16384 fits. 16 columns take 16 multiplications, 22 operations to join the bits
// and about 17 others: 1652 cycles for 256 columns in the model of Cortex-A53, 1.0 bytes per cycle,
// and 498 in that of Cortex-A72, 3.4 (llvm-mca 19).
#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define scales x8
#define low x9
#define high x10
#define later x11               // weights to prefetch now
#define again x12               // bytes from the second half of low bits back to the first half: -64
#define beyond x13              // 192: from the second 64 bytes of 256 to the next 256
#define x_step x14              // 32: bytes from one sub-block of x to the next but one
#define scale_step x15          // 16: bytes from a sub-block's scales to the next but one's
#define half x16                // of 32 columns: 0, 1
#define part x17                // of 256 columns: 0, 1

#define sums0123 v8
#define sums4567 v9
#define low_mask v10
#define invert v11
#define acc_low v12
#define acc_high v13

// v4-v7 = two chunks of 8 rows, from the high bits that \up moves to the top, and the nibbles of
// v24-v27. This macro sets bits 4 and 5, with copies of the sign above them.
.macro signed_bits first, second, third, fourth, up
.if \up
    shl     v4.16b, \first\().16b, #\up
    shl     v5.16b, \second\().16b, #\up
    shl     v6.16b, \third\().16b, #\up
    shl     v7.16b, \fourth\().16b, #\up
    sshr    v4.16b, v4.16b, #2
    sshr    v5.16b, v5.16b, #2
    sshr    v6.16b, v6.16b, #2
    sshr    v7.16b, v7.16b, #2
.else
    sshr    v4.16b, \first\().16b, #2
    sshr    v5.16b, \second\().16b, #2
    sshr    v6.16b, \third\().16b, #2
    sshr    v7.16b, \fourth\().16b, #2
.endif
.endm

// Insert the nibbles below the bits that signed_bits has set.
.macro join odd
.if \odd
    sri     v4.16b, v24.16b, #4
    sri     v5.16b, v25.16b, #4
    sri     v6.16b, v26.16b, #4
    sri     v7.16b, v27.16b, #4
.else
    bit     v4.16b, v24.16b, low_mask.16b
    bit     v5.16b, v25.16b, low_mask.16b
    bit     v6.16b, v26.16b, low_mask.16b
    bit     v7.16b, v27.16b, low_mask.16b
.endif
.endm

.macro products rows0123, rows4567, x_chunk, multiply
    \multiply   v28.8h, \rows0123\().8b, \x_chunk\().8b
    \multiply\()2 v29.8h, \rows0123\().16b, \x_chunk\().16b
    \multiply   v30.8h, \rows4567\().8b, \x_chunk\().8b
    \multiply\()2 v31.8h, \rows4567\().16b, \x_chunk\().16b
.endm

// Multiply 16 columns, of high nibbles if `odd` is 1; `next` is the step of `low` after the last
// load.
.macro sub_block odd, up, next
    ld1     {v24.16b, v25.16b, v26.16b, v27.16b}, [low], #64
    ld4r    {v0.4s, v1.4s, v2.4s, v3.4s}, [block], x_step
    signed_bits v16, v17, v18, v19, \up
    join    \odd
    ld1     {v24.16b, v25.16b, v26.16b, v27.16b}, [low], \next
    products v4, v5, v0, smull
    products v6, v7, v1, smlal
    signed_bits v20, v21, v22, v23, \up
    join    \odd
    ld1     {v0.8b}, [scales], scale_step
    products v4, v5, v2, smlal
    products v6, v7, v3, smlal
    sxtl    v0.8h, v0.8b
    saddlp  v28.4s, v28.8h
    saddlp  v29.4s, v29.8h
    saddlp  v30.4s, v30.8h
    saddlp  v31.4s, v31.8h
    sxtl    v1.4s, v0.4h
    sxtl2   v2.4s, v0.8h
    addp    v28.4s, v28.4s, v29.4s
    addp    v30.4s, v30.4s, v31.4s
    mla     sums0123.4s, v28.4s, v1.4s
    mla     sums4567.4s, v30.4s, v2.4s
.endm

.macro blocks_q6k
.Lblock\@:
    add     later, weights, ahead
    add     scales, weights, #K36_SCALES
    add     low, weights, #Q6K_LOW
    add     high, weights, #Q6K_HIGH
    prfm    pldl1strm, [later]
    prfm    pldl1strm, [later, #64]
    prfm    pldl1strm, [later, #128]
    add     later, later, #192          // 1488 bytes remain; 4 times 6 cache lines reach 48 bytes further
    movi    sums0123.4s, #0
    movi    sums4567.4s, #0
    mov     half, #2
.Lhalf\@:
    mov     part, #2
.Lpart\@:
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [high], #64
    ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [high], beyond
    prfm    pldl1strm, [later]
    prfm    pldl1strm, [later, #64]
    prfm    pldl1strm, [later, #128]
    prfm    pldl1strm, [later, #192]
    prfm    pldl1strm, [later, #256]
    prfm    pldl1strm, [later, #320]
    add     later, later, #384
    subs    part, part, #1
.irp bits, v16.16b, v17.16b, v18.16b, v19.16b, v20.16b, v21.16b, v22.16b, v23.16b
    eor     \bits, \bits, invert.16b
.endr
    sub_block 0, 6, again
    sub_block 1, 4, beyond
    sub_block 0, 2, again
    sub_block 1, 0, beyond
    b.ne    .Lpart\@
    subs    half, half, #1
    sub     low, low, #896
    sub     high, high, #384
    sub     scales, scales, #120
    sub     block, block, #240
    b.ne    .Lhalf\@

    ld1     {v0.8h}, [weights]
    add     block, block, #256          // x.d is at byte 288; block has moved by 32
    add     weights, weights, #Q6K_BYTES
    ld1r    {v1.4s}, [block]
    fcvtl   v2.4s, v0.4h
    fcvtl2  v3.4s, v0.8h
    scvtf   sums0123.4s, sums0123.4s
    scvtf   sums4567.4s, sums4567.4s
    fmul    v2.4s, v2.4s, v1.4s
    fmul    v3.4s, v3.4s, v1.4s
    subs    blocks_left, blocks_left, #1
    add     block, block, #16
    fmla    acc_low.4s, sums0123.4s, v2.4s
    fmla    acc_high.4s, sums4567.4s, v3.4s
    b.ne    .Lblock\@
.endm

func gemv_f32_q6kx8_q8k_neon
    cbz     rows_left, 2f
    save_vectors
    lsr     n_blocks, n_blocks, #COLS_K_LOG2
    mov     again, #-64
    mov     beyond, #192
    mov     x_step, #32
    mov     scale_step, #16
    movi    low_mask.16b, #0x0f
    movi    invert.16b, #0xaa
    gemv_groups blocks_q6k, acc_low, acc_high, 1f
1:
    store_ragged acc_low, acc_high, out, rows_left // rows mod 8 (0 if all groups were whole)
    restore_vectors
2:
    ret
endfunc gemv_f32_q6kx8_q8k_neon
