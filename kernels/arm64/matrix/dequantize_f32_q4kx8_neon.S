// void dequantize_f32_q4kx8_neon(float *y, const void *w, size_t row, size_t cols)
//
// x0-x9 as named below; v0-v3 16 floats, v4 d, v5 dmin, v6 scale, v7 min, v16 mask; v17, v18
// bytes of two sub-blocks, v19, v20 their nibbles, v21-v24 -min, then results.
// Clobbers x0-x9, x12-x15, v0-v7, v16-v24.
//
// The kernel runs once for each token, to read its embedding. It reads one row of a group of
// eight, so 4 of every 32 bytes. A scale times a nibble is at most 63 * 15, so it fits an int16. A
// sub-block of 32 takes 62 instructions: 135 cycles in the model of Cortex-A53, 47 in that of
// Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/matrix/dequantize_neon.h"

#define out x0
#define weights x1
#define row x2
#define blocks_left x3
#define quants x4
#define step x5                 // 32
#define scales x6
#define mins x7
#define shift x8                // shift of a min's high bits: first 0, then 4
#define count x9
#define scale_bits w12
#define min_bits w13
#define scale w14
#define shift_bits w8
#define temp x12
#define other x13

// Convert 32 columns, whose nibbles are in v19 and v20.
.macro sub_block
    ldrb    scale_bits, [scales], #8
    ldrb    min_bits, [mins], #8
    and     scale, scale_bits, #63
    lsr     min_bits, min_bits, shift_bits
    lsr     scale_bits, scale_bits, #6
    and     min_bits, min_bits, #15
    orr     min_bits, scale_bits, min_bits, lsl #2
    fmov    s6, scale
    scvtf   s7, min_bits
    fnmul   s7, s5, s7
    scaled_sixteen v19, v6
    add_min
    scaled_sixteen v20, v6
    add_min
.endm

.macro add_min
    dup     v21.4s, v7.s[0]
    dup     v22.4s, v7.s[0]
    dup     v23.4s, v7.s[0]
    dup     v24.4s, v7.s[0]
    fmla    v21.4s, v0.4s, v4.s[0]
    fmla    v22.4s, v1.4s, v4.s[0]
    fmla    v23.4s, v2.4s, v4.s[0]
    fmla    v24.4s, v3.4s, v4.s[0]
    st1     {v21.4s, v22.4s, v23.4s, v24.4s}, [out], #64
.endm

func dequantize_f32_q4kx8_neon
    find_row weights, row, blocks_left, COLS_K_LOG2, Q4K_BYTES, temp, other
    mov     step, #32
    movi    v16.16b, #15
    cbz     blocks_left, 3f
1:
    add     quants, weights, row, lsl #1
    ldr     h4, [quants]
    ldr     h5, [quants, #K_DMIN]
    add     scales, weights, row
    add     mins, scales, #K45_MINS
    add     scales, scales, #K45_SCALES
    add     quants, weights, row, lsl #2
    add     quants, quants, #K45_QUANTS
    fcvt    s4, h4
    fcvt    s5, h5
    mov     shift, #0
    mov     count, #4
2:
    row_bytes v17, v18, quants, step
    and     v19.16b, v17.16b, v16.16b
    and     v20.16b, v18.16b, v16.16b
    sub_block
    ushr    v19.16b, v17.16b, #4
    ushr    v20.16b, v18.16b, #4
    sub_block
    sub     count, count, #1
    tst     count, #1
    b.ne    2b
    mov     shift, #4               // the mins after the first four are the bytes' high nibbles
    sub     mins, mins, #32
    cbnz    count, 2b
    add     weights, weights, #Q4K_BYTES
    subs    blocks_left, blocks_left, #1
    b.ne    1b
3:
    ret
endfunc dequantize_f32_q4kx8_neon
