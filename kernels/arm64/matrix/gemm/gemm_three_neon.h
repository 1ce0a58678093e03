// Shared by the gemms of Q4_0 and Q8_0 without the dot product: a separate loop for three tokens,
// like that of gemm_pair_neon.h for two. Four tokens would need too many registers, so the general
// loops compute them.
//
// v16-v27 sums, four registers per token; v10-v15 y of 8 rows, two a token
#ifndef INGOT_KERNELS_ARM64_GEMM_THREE_NEON_H
#define INGOT_KERNELS_ARM64_GEMM_THREE_NEON_H

#include "kernels/arm64/matrix/gemm/gemm_pair_neon.h"

#define third_out x10           // y of the third token
#define later_acts x12          // Q4_0: x of the high nibbles
#define scale_at x12            // Q8_0: scales of the block
#define block_step x13
#define last_step x15           // bytes from a block's last weights to the next block's first ones

// If there are three tokens, compute y; otherwise do nothing. `blocks` adds blocks_left >= 1
// blocks, from weights and tile_acts on, to y. Before anything is done, the macro `refuse` may
// jump to its argument, the label of the general loops.
.macro gemm_of_three blocks, refuse
    ldr     count, [shape, #SHAPE_TOKENS]
    cmp     count, #3
    b.ne    .Lmany\@
    ldp     rows_left, n_blocks, [shape, #SHAPE_ROWS]
    cbz     rows_left, .Lnothing\@
    lsr     n_blocks, n_blocks, #COLS_LOG2
.ifnb \refuse
    \refuse .Lmany\@
.endif
    .cfi_remember_state
    save_vectors
    ldr     third_out, [shape, #SHAPE_Y_STRIDE]
    add     second_out, out, third_out, lsl #2
    add     third_out, second_out, third_out, lsl #2
    mov     x_step, #16
.Lgroup\@:
.irp y, v10.4s, v11.4s, v12.4s, v13.4s, v14.4s, v15.4s
    movi    \y, #0
.endr
    mov     tile_acts, acts
    mov     blocks_left, n_blocks
    cbz     n_blocks, .Lstore\@
    \blocks
.Lstore\@:
    subs    rows_left, rows_left, #8
    b.lo    .Lragged\@
    st1     {v10.4s, v11.4s}, [out], #32
    st1     {v12.4s, v13.4s}, [second_out], #32
    st1     {v14.4s, v15.4s}, [third_out], #32
    b.ne    .Lgroup\@
    b       .Ldone\@
.Lragged\@:
    store_ragged v10, v11, out, rows_left
    store_ragged v12, v13, second_out, rows_left
    store_ragged v14, v15, third_out, rows_left
.Ldone\@:
    restore_vectors
.Lnothing\@:
    ret
    .cfi_restore_state
.Lmany\@:
.endm

// Do one operation on rows 0-3 and 4-7 of the tokens.
.macro each_of_three operation, bits
    \operation v16.4s, v16.\bits
    \operation v18.4s, v18.\bits
    \operation v20.4s, v20.\bits
    \operation v22.4s, v22.\bits
    \operation v24.4s, v24.\bits
    \operation v26.4s, v26.\bits
.endm

.macro fold_three lanes
    addp    v16.\lanes, v16.\lanes, v17.\lanes
    addp    v18.\lanes, v18.\lanes, v19.\lanes
    addp    v20.\lanes, v20.\lanes, v21.\lanes
    addp    v22.\lanes, v22.\lanes, v23.\lanes
    addp    v24.\lanes, v24.\lanes, v25.\lanes
    addp    v26.\lanes, v26.\lanes, v27.\lanes
.endm

// y += int32 sums * the scales v31 of 8 rows * d of x in v0. Destroys v2-v8.
.macro add_three
    fcvtl   v2.4s, v31.4h
    fcvtl2  v3.4s, v31.8h
    each_of_three scvtf, 4s
    fmul    v4.4s, v2.4s, v0.s[0]
    fmul    v5.4s, v3.4s, v0.s[0]
    fmul    v6.4s, v2.4s, v0.s[1]
    fmul    v7.4s, v3.4s, v0.s[1]
    fmul    v8.4s, v2.4s, v0.s[2]
    fmul    v3.4s, v3.4s, v0.s[2]
    fmla    v10.4s, v16.4s, v4.4s
    fmla    v11.4s, v18.4s, v5.4s
    fmla    v12.4s, v20.4s, v6.4s
    fmla    v13.4s, v22.4s, v7.4s
    fmla    v14.4s, v24.4s, v8.4s
    fmla    v15.4s, v26.4s, v3.4s
.endm

#endif
