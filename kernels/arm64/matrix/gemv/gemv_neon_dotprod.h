// Shared by the quantized gemvs with the dot product: the loop over pairs of groups of 8 rows, so
// that 16 rows share x. If one group is left, both halves of the pair compute the same rows.
#ifndef INGOT_KERNELS_ARM64_GEMV_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMV_NEON_DOTPROD_H

#include "kernels/arm64/asm.h"

// Arguments, and registers of the loop. v28-v31 are y of the 16 rows; the blocks of a pair may use
// x7-x17 and all other vector registers.
#define out x0
#define weights x1              // the next pair
#define vector x2               // x
#define rows_left x3
#define n_blocks x4             // of a row
#define ahead x5                // prefetch distance in bytes
#define group_bytes x6
#define first x7                // weights of the pair's groups
#define second x8
#define block x9                // x
#define blocks_left x10
#define seed_word w16
#define seeds x17               // 64 bytes of start values of the sums, then 64 for y of the pair

#define FRAME_SAVED 128         // where x19 and x20 are saved, after start values and y
#define FRAME_BYTES 144

// Take the next pair of groups. If only one group is left, use that group twice.
.macro take_pair
    cmp     rows_left, #8
    mov     first, weights
    add     second, weights, group_bytes
    csel    second, second, first, hi
    mov     block, vector
    mov     blocks_left, n_blocks
.endm

// Body of a gemv. A block has 1 << block_bits columns and block_bytes for 8 rows; `blocks` adds
// `left` >= 1 such blocks to y, from first, second and block on, and may use x19 and x20. `seed` is
// the start value of the sums.
.macro gemv_pairs blocks, block_bits, block_bytes, seed
    cbz     rows_left, .Ldone\@
    save_vectors
    sub     sp, sp, #FRAME_BYTES
    .cfi_adjust_cfa_offset FRAME_BYTES
    save_pair x19, x20, FRAME_SAVED
    mov     seeds, sp
    mov_word seed_word, \seed
    dup     v0.4s, seed_word
    mov     v1.16b, v0.16b
    st1     {v0.4s, v1.4s}, [seeds], #32
    st1     {v0.4s, v1.4s}, [seeds]
    mov     seeds, sp
    lsr     n_blocks, n_blocks, #\block_bits
    mov     group_bytes, #\block_bytes
    mul     group_bytes, group_bytes, n_blocks
.Lpair\@:
    take_pair
    movi    v28.4s, #0
    movi    v29.4s, #0
    movi    v30.4s, #0
    movi    v31.4s, #0
    cbz     n_blocks, .Lno_blocks\@
    \blocks
.Lno_blocks\@:
    add     weights, weights, group_bytes, lsl #1
    subs    rows_left, rows_left, #16
    b.lo    .Llast_rows\@
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [out], #64
    b.ne    .Lpair\@
.Llast_rows\@:
    tbz     rows_left, #3, .Lbelow_eight\@ // rows mod 16 (0 if all pairs were whole)
    st1     {v28.4s, v29.4s}, [out], #32
    mov     v28.16b, v30.16b
    mov     v29.16b, v31.16b
.Lbelow_eight\@:
    store_ragged v28, v29, out, rows_left
    restore_pair x19, x20, FRAME_SAVED
    add     sp, sp, #FRAME_BYTES
    .cfi_adjust_cfa_offset -FRAME_BYTES
    restore_vectors
.Ldone\@:
    ret
.endm

// y of 16 rows += (the sums v24-v27 as floats - offset) * the fp16 scales of the two groups *
// x_scale, a vector element. Destroys v18-v21.
.macro add_scaled_pair first_scales, second_scales, x_scale, offset
    fcvtl   v18.4s, \first_scales\().4h
    fcvtl2  v19.4s, \first_scales\().8h
    fcvtl   v20.4s, \second_scales\().4h
    fcvtl2  v21.4s, \second_scales\().8h
    fsub    v24.4s, v24.4s, \offset\().4s
    fsub    v25.4s, v25.4s, \offset\().4s
    fmul    v18.4s, v18.4s, \x_scale
    fmul    v19.4s, v19.4s, \x_scale
    fsub    v26.4s, v26.4s, \offset\().4s
    fsub    v27.4s, v27.4s, \offset\().4s
    fmul    v20.4s, v20.4s, \x_scale
    fmul    v21.4s, v21.4s, \x_scale
    fmla    v28.4s, v24.4s, v18.4s
    fmla    v29.4s, v25.4s, v19.4s
    fmla    v30.4s, v26.4s, v20.4s
    fmla    v31.4s, v27.4s, v21.4s
.endm

#endif
