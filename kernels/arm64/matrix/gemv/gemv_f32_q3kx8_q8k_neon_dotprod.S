// void gemv_f32_q3kx8_q8k_neon_dotprod(float *y, const void *w, const struct block_q8k *x,
//                                      size_t rows, size_t cols, size_t ahead)
//
// Registers: gemv_k16_neon_dotprod.h. Clobbers x0-x17, v0-v7, v16-v31; x19, x20 and d8-d15 are
// saved.
//
// A weight is a number of 3 bits in two's complement: cmtst spreads its sign over a byte. For shifts,
// for which the cores have one pipe, there are three to four weights.
#include "kernels/arm64/matrix/gemv/gemv_k16_neon_dotprod.h"

.macro blocks_q3k
    keep_y
    mov     x_step, #32
.Lblock\@:
    mov     from_low, #Q3K_HIGH - Q3K_LOW
    movi    two_bits.16b, #3
    movi    v28.16b, #1
    movi    v29.16b, #2
    movi    v30.16b, #4
    movi    v31.16b, #8
    sum_block q3k, Q3K_SCALES, Q3K_LOW
    add     block, block, #Q8K_SCALE
    sub     first_scale, first, #Q3K_HIGH // where the two bits end
    sub     second_scale, second, #Q3K_HIGH
    ld1     {v0.4s}, [block], #16
    ld1     {v1.8h}, [first_scale]
    ld1     {v2.8h}, [second_scale]
    take_y  v16, v17, v18, v19
    add     first, first_scale, #Q3K_BYTES
    add     second, second_scale, #Q3K_BYTES
    fcvtl   v4.4s, v1.4h
    fcvtl2  v5.4s, v1.8h
    fcvtl   v6.4s, v2.4h
    fcvtl2  v7.4s, v2.8h
    scvtf   v24.4s, v24.4s
    scvtf   v25.4s, v25.4s
    fmul    v4.4s, v4.4s, v0.s[0]
    fmul    v5.4s, v5.4s, v0.s[0]
    scvtf   v26.4s, v26.4s
    scvtf   v27.4s, v27.4s
    fmul    v6.4s, v6.4s, v0.s[0]
    fmul    v7.4s, v7.4s, v0.s[0]
    fmla    v16.4s, v24.4s, v4.4s
    fmla    v17.4s, v25.4s, v5.4s
    fmla    v18.4s, v26.4s, v6.4s
    fmla    v19.4s, v27.4s, v7.4s
    subs    blocks_left, blocks_left, #1
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [y_room]
    b.ne    .Lblock\@
    take_y  v28, v29, v30, v31
.endm

func gemv_f32_q3kx8_q8k_neon_dotprod, dotprod
    gemv_pairs blocks_q3k, COLS_K_LOG2, Q3K_BYTES, 0
endfunc gemv_f32_q3kx8_q8k_neon_dotprod
