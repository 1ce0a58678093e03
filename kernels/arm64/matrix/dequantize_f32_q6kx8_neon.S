// void dequantize_f32_q6kx8_neon(float *y, const void *w, size_t row, size_t cols)
//
// x0-x8 as named below; v0-v3 16 floats, v4 d, v6 scale, v16 low mask, v17 high bits to be
// inverted; v18, v19 and v20, v21 low bits of 64 columns each, v22, v23 high bits of all 128;
// v24, v25 q - 32 of 32 columns.
// Clobbers x0-x8, x12, x13, v0-v4, v6, v16-v25.
//
// The kernel runs once for each token, to read its embedding. It reads one row of a group of
// eight, so 4 of every 32 bytes. The bits are joined as in gemv_f32_q6kx8_q8k. 32 columns take 53
// instructions: 132 cycles in the model of Cortex-A53, 54 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/matrix/dequantize_neon.h"

#define out x0
#define weights x1
#define row x2
#define blocks_left x3
#define low x4
#define step x5                 // 32
#define high x6
#define scales x7
#define count x8
#define scale w12
#define temp x12
#define other x13

// 16 columns in q
.macro sub_block q
    ldrsb   scale, [scales], #8
    fmov    s6, scale
    scaled_sixteen \q, v6
    fmul    v0.4s, v0.4s, v4.s[0]
    fmul    v1.4s, v1.4s, v4.s[0]
    fmul    v2.4s, v2.4s, v4.s[0]
    fmul    v3.4s, v3.4s, v4.s[0]
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
.endm

// 32 columns of low nibbles in first, second
.macro low_columns first, second, up
    shl     v24.16b, v22.16b, #\up
    shl     v25.16b, v23.16b, #\up
    sshr    v24.16b, v24.16b, #2
    sshr    v25.16b, v25.16b, #2
    bit     v24.16b, \first\().16b, v16.16b
    bit     v25.16b, \second\().16b, v16.16b
    sub_block v24
    sub_block v25
.endm

// 32 columns of high nibbles
.macro high_columns first, second, up
    shl     v24.16b, v22.16b, #\up
    shl     v25.16b, v23.16b, #\up
    sshr    v24.16b, v24.16b, #2
    sshr    v25.16b, v25.16b, #2
    sri     v24.16b, \first\().16b, #4
    sri     v25.16b, \second\().16b, #4
    sub_block v24
    sub_block v25
.endm

func dequantize_f32_q6kx8_neon
    find_row weights, row, blocks_left, COLS_K_LOG2, Q6K_BYTES, temp, other
    mov     step, #32
    movi    v16.16b, #0x0f
    movi    v17.16b, #0xaa
    cbz     blocks_left, 3f
1:
    add     low, weights, row, lsl #1
    ldr     h4, [low]
    add     scales, weights, row
    add     scales, scales, #K36_SCALES
    add     low, weights, row, lsl #2
    add     high, low, #Q6K_HIGH
    add     low, low, #Q6K_LOW
    add     weights, weights, #Q6K_BYTES
    fcvt    s4, h4
    mov     count, #2               // of 128 columns
2:
    row_bytes v18, v19, low, step
    row_bytes v20, v21, low, step
    row_bytes v22, v23, high, step
    eor     v22.16b, v22.16b, v17.16b
    eor     v23.16b, v23.16b, v17.16b
    low_columns v18, v19, 6
    high_columns v18, v19, 4
    low_columns v20, v21, 2
    high_columns v20, v21, 0
    subs    count, count, #1
    b.ne    2b
    subs    blocks_left, blocks_left, #1
    b.ne    1b
3:
    ret
endfunc dequantize_f32_q6kx8_neon
