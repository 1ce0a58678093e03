// void score_f32_q8_neon(struct score_row *s, const struct block_q8 *q, const void *k, size_t n_q,
//                        size_t n, size_t d)
//
// x0 row of s; x1 its query; x2 scales, and x6 keys; x3 rows left; x4 n; x5 blocks of 32 dimensions;
// x7 scores left of n, x8 score, x9 query, x10 scale, x11 key of a strip, x12 blocks left;
// x13 scales and x14 keys of a strip, x15 bytes from a dimension or a scale to the next;
// v16-v19 scores of 16 positions, v20-v27 their integers in pairs, v0-v3, v28-v31 keys, v4, v5 query,
// v8-v15 products.
// Clobbers x0-x15, v0-v7, v16-v31; d8-d15 are saved.
//
// A vector of keys has four dimensions of four positions; it is multiplied by four dimensions of the
// query, repeated four times. No number of a query is -128, so the sum of two products, from four
// dimensions and the next four, fits an int16. 128 products take 27 instructions. 16 positions and 32
// dimensions take 128 instructions: 286 cycles in the model of Cortex-A53, 75 in that of Cortex-A72
// (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define row x0
#define query x1
#define scales x2
#define rows_left x3
#define length x4
#define n_blocks x5
#define keys x6
#define positions_left x7
#define score x8
#define q_at x9
#define scale_at x10
#define key_at x11
#define blocks_left x12
#define strip_scales x13
#define strip_keys x14
#define tile_stride x15

.macro products multiply, k0, k1, k2, k3, q
    \multiply   v8.8h, \k0\().8b, \q\().8b
    \multiply\()2 v9.8h, \k0\().16b, \q\().16b
    \multiply   v10.8h, \k1\().8b, \q\().8b
    \multiply\()2 v11.8h, \k1\().16b, \q\().16b
    \multiply   v12.8h, \k2\().8b, \q\().8b
    \multiply\()2 v13.8h, \k2\().16b, \q\().16b
    \multiply   v14.8h, \k3\().8b, \q\().8b
    \multiply\()2 v15.8h, \k3\().16b, \q\().16b
.endm

// v20-v27 (+)= 8 dimensions
.macro eight_dimensions add
    ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [key_at], tile_stride
    ld2r    {v4.4s, v5.4s}, [q_at], #8
    products smull, v0, v1, v2, v3, v4
    ld1     {v28.16b, v29.16b, v30.16b, v31.16b}, [key_at], tile_stride
    products smlal, v28, v29, v30, v31, v5
    \add   v20.4s, v8.8h
    \add   v21.4s, v9.8h
    \add   v22.4s, v10.8h
    \add   v23.4s, v11.8h
    \add   v24.4s, v12.8h
    \add   v25.4s, v13.8h
    \add   v26.4s, v14.8h
    \add   v27.4s, v15.8h
.endm

// acc += (float)(pairs low, high) * v
.macro add_block acc, low, high, v
    addp    \low\().4s, \low\().4s, \high\().4s
    fmul    \v\().4s, \v\().4s, v7.s[0]
    scvtf   \low\().4s, \low\().4s
    fmla    \acc\().4s, \low\().4s, \v\().4s
.endm

func score_f32_q8_neon
    cbz     rows_left, 9f
    cbz     length, 9f
    save_vectors
    add     keys, scales, n_blocks, lsl #3      // d / 32 * 256 bytes
    lsr     n_blocks, n_blocks, #5
    mov     tile_stride, #4 * KV_TILE
1:
    mov     score, row
    mov     positions_left, length
    mov     strip_scales, scales
    mov     strip_keys, keys
2:
    movi    v16.4s, #0
    movi    v17.4s, #0
    movi    v18.4s, #0
    movi    v19.4s, #0
    mov     q_at, query
    mov     scale_at, strip_scales
    mov     key_at, strip_keys
    mov     blocks_left, n_blocks
    cbz     n_blocks, 4f
3:
    eight_dimensions saddlp
    eight_dimensions sadalp
    eight_dimensions sadalp
    eight_dimensions sadalp
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [scale_at], tile_stride
    ldr     s7, [q_at], #(Q8_BYTES - Q8_SCALE)
    sub     blocks_left, blocks_left, #1
    add_block v16, v20, v21, v0
    add_block v17, v22, v23, v1
    add_block v18, v24, v25, v2
    add_block v19, v26, v27, v3
    cbnz    blocks_left, 3b
4:
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [score], #64
    add     strip_scales, strip_scales, #64
    add     strip_keys, strip_keys, #64
    subs    positions_left, positions_left, #16
    b.ne    2b
    mov     query, q_at
    add     row, row, #SCORE_ROW_BYTES
    subs    rows_left, rows_left, #1
    b.ne    1b
    restore_vectors
9:
    ret
endfunc score_f32_q8_neon
