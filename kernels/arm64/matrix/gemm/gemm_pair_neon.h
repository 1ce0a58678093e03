// Shared by the gemms of Q4_0 and Q8_0 without the dot product: a separate loop for two tokens, for
// example when one guessed token is checked. Weights are unpacked in registers as in the gemv, once
// for both tokens, because a scratch buffer would serve only a single tile.
//
// v0-v3, v8-v11 x of the first four chunks, v12, v13 of a later one, each 4 columns of a token four times
// over; v4-v7 weights; v16-v19, v20-v23 sums of the tokens; v24, v25 and v26, v27 y of 8 rows each
#ifndef INGOT_KERNELS_ARM64_GEMM_PAIR_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_PAIR_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_neon.h"

#define second_out x7           // y of the second token
#define x_step x16              // bytes from one chunk to the next
#define PAIR_AHEAD 512          // prefetch distance in bytes

// If there are two tokens, compute y; otherwise do nothing. `blocks` adds blocks_left >= 1 blocks,
// from weights and tile_acts on, to y. Before anything is done, the macro `refuse` may jump to its
// argument, the label of the general loops.
.macro gemm_of_two blocks, refuse
    ldr     count, [shape, #SHAPE_TOKENS]
    cmp     count, #2
    b.ne    .Lmany\@
    ldp     rows_left, n_blocks, [shape, #SHAPE_ROWS]
    cbz     rows_left, .Lnothing\@
    lsr     n_blocks, n_blocks, #COLS_LOG2
.ifnb \refuse
    \refuse .Lmany\@
.endif
    .cfi_remember_state
    save_vectors
    ldr     second_out, [shape, #SHAPE_Y_STRIDE]
    add     second_out, out, second_out, lsl #2
    mov     x_step, #16
.Lgroup\@:
    movi    v24.4s, #0
    movi    v25.4s, #0
    movi    v26.4s, #0
    movi    v27.4s, #0
    mov     tile_acts, acts
    mov     blocks_left, n_blocks
    cbz     n_blocks, .Lstore\@
    \blocks
.Lstore\@:
    subs    rows_left, rows_left, #8
    b.lo    .Lragged\@
    st1     {v24.4s, v25.4s}, [out], #32
    st1     {v26.4s, v27.4s}, [second_out], #32
    b.ne    .Lgroup\@
    b       .Ldone\@
.Lragged\@:
    store_ragged v24, v25, out, rows_left
    store_ragged v26, v27, second_out, rows_left
.Ldone\@:
    restore_vectors
.Lnothing\@:
    ret
    .cfi_restore_state
.Lmany\@:
.endm

// Load x of four chunks; the second macro loads x of the next chunk to v12, v13.
.macro first_chunks
    ld2r    {v0.4s, v1.4s}, [tile_acts], x_step
    ld2r    {v2.4s, v3.4s}, [tile_acts], x_step
    ld2r    {v8.4s, v9.4s}, [tile_acts], x_step
    ld2r    {v10.4s, v11.4s}, [tile_acts], x_step
.endm

.macro next_chunk
    ld2r    {v12.4s, v13.4s}, [tile_acts], x_step
.endm

// y += the sums as floats, in v16, v18 and v20, v22, * the scales v31 of 8 rows * d of x in v0.
.macro add_pair
    fcvtl   v2.4s, v31.4h
    fcvtl2  v3.4s, v31.8h
    scvtf   v16.4s, v16.4s
    scvtf   v18.4s, v18.4s
    scvtf   v20.4s, v20.4s
    scvtf   v22.4s, v22.4s
    fmul    v8.4s, v2.4s, v0.s[0]
    fmul    v9.4s, v3.4s, v0.s[0]
    fmul    v10.4s, v2.4s, v0.s[1]
    fmul    v11.4s, v3.4s, v0.s[1]
    fmla    v24.4s, v16.4s, v8.4s
    fmla    v25.4s, v18.4s, v9.4s
    fmla    v26.4s, v20.4s, v10.4s
    fmla    v27.4s, v22.4s, v11.4s
.endm

#endif
