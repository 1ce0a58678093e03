// void dequantize_f32_q8x8_neon(float *y, const void *w, size_t row, size_t cols)
//
// x0 y; x1 w; x2 row; x3 cols, then blocks left;
// x4 scale of the row, x5 its current chunk, x6 bytes from chunk to chunk; v7 scale.
// Clobbers x0-x6, v0-v5, v7.
//
// The kernel runs once for each token, to read its embedding. It reads one row of a group of eight,
// so 4 of every 32 bytes. A block of 32 takes 45 instructions: 109 cycles in the model of
// Cortex-A53, 84 in that of Cortex-A72 (llvm-mca 19), most of them to load and store single lanes.
#include "kernels/arm64/matrix/dequantize_neon.h"

#define out x0
#define weights x1
#define row x2
#define blocks_left x3
#define scale x4
#define quants x5
#define chunk_bytes x6

func dequantize_f32_q8x8_neon
    find_row_32 weights, row, blocks_left, scale, quants, Q8X8_BYTES
    mov     chunk_bytes, #32
    cbz     blocks_left, 2f
1:
    ldr     h7, [scale]
    ld1     {v0.s}[0], [quants], chunk_bytes
    ld1     {v0.s}[1], [quants], chunk_bytes
    ld1     {v0.s}[2], [quants], chunk_bytes
    ld1     {v0.s}[3], [quants], chunk_bytes
    ld1     {v5.s}[0], [quants], chunk_bytes
    ld1     {v5.s}[1], [quants], chunk_bytes
    ld1     {v5.s}[2], [quants], chunk_bytes
    ld1     {v5.s}[3], [quants], chunk_bytes
    fcvt    s7, h7
    add     scale, scale, #Q8X8_BYTES
    add     quants, quants, #QUANTS     // skip the next block's scales
    subs    blocks_left, blocks_left, #1
    scale_sixteen out
    mov     v0.16b, v5.16b
    scale_sixteen out
    b.ne    1b
2:
    ret
endfunc dequantize_f32_q8x8_neon
