// void score_f32_f16_neon(struct score_row *s, const float *q, const uint16_t *k, size_t n_q,
//                         size_t n, size_t d)
//
// x0 s, from a strip's first score on; x1 q; x2 k, from a strip's first key on; x3 n_q;
// x4 scores left of n; x5 d;
// x22 dimensions left, x23 q from the chunk's first dimension on; the rest as in panel_neon.h.
// Clobbers x0-x17, v0-v7, v16-v31; 4.2 KiB of stack.
//
// Works in strips of 16 positions. Each strip has chunks of 64 dimensions; most models have one
// chunk. A lane is a position. Accumulators stay in registers for a whole chunk. 4 queries,
// 16 positions and 4 dimensions take 64 fma and 90 instructions in all, 74 after the first 4
// queries. These 74 take 144 cycles in the model of Cortex-A53, 64 in that of Cortex-A72, 32 in
// that of Neoverse N1 (llvm-mca 19); 64 fma take at least 32. All 90 take 172, 88 and 56.
#include "kernels/arm64/attention/panel_neon.h"

#define scores x0
#define queries x1
#define keys x2
#define positions_left x4
#define dim x5
#define dims_left x22
#define mult_chunk x23
#define ZEROS_BYTES 64          /* start values of a strip's scores */

func score_f32_f16_neon
    cbz     n_rows, 4f
    cbz     positions_left, 4f
    save_panel_registers
    sub     sp, sp, #PANEL_KEPT
    sub     sp, sp, #ZEROS_BYTES
    .cfi_adjust_cfa_offset PANEL_KEPT + ZEROS_BYTES
    movi    v0.4s, #0
    movi    v1.4s, #0
    add     start, sp, #PANEL_KEPT
    st1     {v0.4s, v1.4s}, [start], #32
    st1     {v0.4s, v1.4s}, [start]
    lsl     mult_stride, dim, #2
    mov     source_stride, #2 * KV_TILE
    mov     out_stride, #SCORE_ROW_BYTES
    mov     start_factor, #0        // continue from the stored scores
1:
    mov     mult_chunk, queries
    mov     source, keys
    mov     dims_left, dim
    add     start, sp, #PANEL_KEPT  // every row starts from the zeros
    mov     start_stride, #0
2:
    cmp     dims_left, #PANEL_DEPTH
    mov     depth, #PANEL_DEPTH
    csel    depth, dims_left, depth, lo
    mov     mult_row, mult_chunk
    mov     out_row, scores
    bl      panel_f16_neon
    subs    dims_left, dims_left, depth
    b.eq    3f
    add     mult_chunk, mult_chunk, #(4 * PANEL_DEPTH)
    mov     start, scores
    mov     start_stride, out_stride
    b       2b
3:
    add     scores, scores, #64
    add     keys, keys, #32
    subs    positions_left, positions_left, #16
    b.ne    1b
    add     sp, sp, #PANEL_KEPT
    add     sp, sp, #ZEROS_BYTES
    .cfi_adjust_cfa_offset -(PANEL_KEPT + ZEROS_BYTES)
    restore_panel_registers
4:
    ret
endfunc score_f32_f16_neon
