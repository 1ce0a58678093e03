// void gemv_f32_q6kx8_q8k_neon_dotprod(float *y, const void *w, const struct block_q8k *x,
//                                      size_t rows, size_t cols, size_t ahead)
//
// x0 y  x1 w  x2 x  x3 rows  x4 cols  x5 ahead; the loop is in gemv_neon_dotprod.h
// v0-v3 x of 16 columns each, 32 apart; v4-v7 high bits, v8-v11 low bits of the first two of these
// sub-blocks, v12-v15 of the others; v16-v23 sums of the four, 8 rows each
// v24-v27 integers of 16 rows over 256 columns; v28-v31 masks and temporaries, y is in the frame
// Clobbers x0-x17, v0-v7, v16-v31; x19, x20 and d8-d15 are saved.
//
// A byte of high bits serves four sub-blocks. Weights become 4 (q - 32), the 6 bits on top: a shift
// puts the high bits there and sri the low ones under them; the exclusive or that makes them signed
// serves all four. The sums stay below 2^30 and the conversion to float divides by 4, exactly.
// 8 rows x 32 columns take 16 sdot, 48 to assemble the weights and 84 instructions in all: 45
// cycles in the model of Neoverse N1, which stands for Cortex-A76, 4.7 bytes a cycle (llvm-mca 19).
#include "kernels/arm64/matrix/gemv/gemv_neon_dotprod.h"

#define LOW_BYTES (Q6K_HIGH - Q6K_LOW)

// From 64 bytes of low bits of the first two sub-blocks to those of the others, from these to the
// high bits, and from there to the next 64 bytes, in the first 128 columns and in the second.
#define LOW_STEP 256
#define HIGH_STEP(second) (LOW_BYTES - LOW_STEP - 256 * (second))
#define BACK_STEP(second) (64 - LOW_BYTES + 256 * (second))

#define low_step x11
#define high_step x12
#define back_step x13
#define first_scale x14
#define second_scale x15
#define x_even x16              // columns 0-15 of 32
#define x_step x19
#define x_odd x20               // columns 16-31
#define y_room x_even           // between blocks

#define flip v28
#define high_nibble v29

// One register of each: 4 columns of 4 rows of the four sub-blocks.
.macro columns high, low01, low23, sum0, sum1, sum2, sum3, column
    eor     \high\().16b, \high\().16b, flip.16b
    shl     v31.16b, \low01\().16b, #4
    shl     v30.16b, \high\().16b, #6
    and     \low01\().16b, \low01\().16b, high_nibble.16b
    sri     v30.16b, v31.16b, #2
    shl     v31.16b, \high\().16b, #4
    sdot    \sum0\().4s, v30.16b, v0.4b[\column]
    sri     v31.16b, \low01\().16b, #2
    shl     \low01\().16b, \low23\().16b, #4
    shl     v30.16b, \high\().16b, #2
    sdot    \sum1\().4s, v31.16b, v1.4b[\column]
    and     \low23\().16b, \low23\().16b, high_nibble.16b
    sri     v30.16b, \low01\().16b, #2
    sri     \high\().16b, \low23\().16b, #2
    sdot    \sum2\().4s, v30.16b, v2.4b[\column]
    sdot    \sum3\().4s, \high\().16b, v3.4b[\column]
.endm

// 8 columns from column 4 * `column` of each x on.
.macro two_chunks group, column
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [\group], low_step
    prfm    pldl1keep, [\group, ahead]
    ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [\group], high_step
    prfm    pldl1keep, [\group, ahead]
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [\group], back_step
    prfm    pldl1keep, [\group, ahead]
    columns v4, v8, v12, v16, v18, v20, v22, \column
    columns v5, v9, v13, v17, v19, v21, v23, \column
    columns v6, v10, v14, v16, v18, v20, v22, \column + 1
    columns v7, v11, v15, v17, v19, v21, v23, \column + 1
.endm

// Totals of a group += sums of a sub-block by its scales, int16.
.macro add_sub_block scale, total0123, total4567, sum0123, sum4567
    sshll   v12.4s, \scale\().4h, #0
    sshll2  v13.4s, \scale\().8h, #0
    mla     \total0123\().4s, \sum0123\().4s, v12.4s
    mla     \total4567\().4s, \sum4567\().4s, v13.4s
.endm

// Four sub-blocks of a group; `widen` takes the scales of the even ones (sshll of 8b) or of the
// odd.
.macro group_part group, scale, total0123, total4567, widen, bytes
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [seeds]
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [seeds]
    two_chunks \group, 0
    two_chunks \group, 2
    ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [\scale]
    \widen  v8.8h, v4.\bytes, #0
    \widen  v9.8h, v5.\bytes, #0
    \widen  v10.8h, v6.\bytes, #0
    \widen  v11.8h, v7.\bytes, #0
    add_sub_block v8, \total0123, \total4567, v16, v17
    add_sub_block v9, \total0123, \total4567, v18, v19
    add_sub_block v10, \total0123, \total4567, v20, v21
    add_sub_block v11, \total0123, \total4567, v22, v23
.endm

// 16 columns of each of four sub-blocks, of both groups.
.macro pair_part x_at, widen, bytes
    ld1     {v0.16b}, [\x_at], x_step
    ld1     {v1.16b}, [\x_at], x_step
    ld1     {v2.16b}, [\x_at], x_step
    ld1     {v3.16b}, [\x_at], x_step
    group_part first, first_scale, v24, v25, \widen, \bytes
    group_part second, second_scale, v26, v27, \widen, \bytes
.endm

// 128 columns.
.macro pair_half
    pair_part x_even, sshll, 8b
    pair_part x_odd, sshll2, 16b
    add     first_scale, first_scale, #64
    add     second_scale, second_scale, #64
.endm

.macro blocks_q6k
    add     y_room, seeds, #64
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [y_room]
    movi    flip.16b, #0xaa
    movi    high_nibble.16b, #0xf0
    mov     low_step, #LOW_STEP
    mov     x_step, #32
.Lblock\@:
    add     first_scale, first, #Q6K_SCALES
    add     second_scale, second, #Q6K_SCALES
    add     first, first, #Q6K_LOW
    add     second, second, #Q6K_LOW
    mov     high_step, #HIGH_STEP(0)
    mov     back_step, #BACK_STEP(0)
    mov     x_even, block
    add     x_odd, block, #16
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [seeds]
.Lhalf\@:
    pair_half
    add     first, first, #256          // from columns 64-127, which were read beside 0-63
    add     second, second, #256
    cmp     high_step, #HIGH_STEP(1)
    mov     high_step, #HIGH_STEP(1)
    mov     back_step, #BACK_STEP(1)
    b.ne    .Lhalf\@
    add     block, block, #Q8K_SCALE
    sub     first_scale, first_scale, #Q6K_LOW
    sub     second_scale, second_scale, #Q6K_LOW
    ld1     {v0.4s}, [block], #16
    ld1     {v1.8h}, [first_scale]
    ld1     {v2.8h}, [second_scale]
    add     y_room, seeds, #64
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [y_room]
    add     first, first_scale, #Q6K_BYTES
    add     second, second_scale, #Q6K_BYTES
    fcvtl   v4.4s, v1.4h
    fcvtl2  v5.4s, v1.8h
    fcvtl   v6.4s, v2.4h
    fcvtl2  v7.4s, v2.8h
    scvtf   v24.4s, v24.4s, #2
    scvtf   v25.4s, v25.4s, #2
    fmul    v4.4s, v4.4s, v0.s[0]
    fmul    v5.4s, v5.4s, v0.s[0]
    scvtf   v26.4s, v26.4s, #2
    scvtf   v27.4s, v27.4s, #2
    fmul    v6.4s, v6.4s, v0.s[0]
    fmul    v7.4s, v7.4s, v0.s[0]
    fmla    v16.4s, v24.4s, v4.4s
    fmla    v17.4s, v25.4s, v5.4s
    fmla    v18.4s, v26.4s, v6.4s
    fmla    v19.4s, v27.4s, v7.4s
    subs    blocks_left, blocks_left, #1
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [y_room]
    b.ne    .Lblock\@
    ld1     {v28.4s, v29.4s, v30.4s, v31.4s}, [y_room]
.endm

func gemv_f32_q6kx8_q8k_neon_dotprod, dotprod
    gemv_pairs blocks_q6k, COLS_K_LOG2, Q6K_BYTES, 0
endfunc gemv_f32_q6kx8_q8k_neon_dotprod
