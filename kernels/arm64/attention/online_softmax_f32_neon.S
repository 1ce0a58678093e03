// void online_softmax_f32_neon(struct score_row *s, size_t n_q, size_t n)
//
// x0 row; x1 rows left; x2 n;
// x3 cursor, x4 blocks of 16 left, x5 blocks that n touches, x6 lanes of the last one or 0;
// x7 address of max, w8 constants, x9-x14 and v24-v28 constants, x15 last block;
// v8-v11 lanes of the sum, v12-v15 all bits set from lane n on, v29 old max, then factor, v30 max.
// Clobbers x0-x8, x9-x15, v0-v7, v16-v30; d8-d15 are saved; 64 bytes of stack.
//
// Lanes from n on become NaNs, which maxima ignore and whose e^x is 0, as the contract requires.
// The maximum starts from the row's maximum so far, and stays a NaN if that is a NaN. 64 scores
// take 44 instructions for the maximum, 292 for e^x and its sum, and 60 others; these 292 take 616
// cycles in the model of Cortex-A53, 480 in that of Cortex-A72, 212 in that of Neoverse N1
// (llvm-mca 19).
#include "kernels/arm64/asm.h"
#include "kernels/arm64/vector/exp_neon.h"

#define row x0
#define rows_left x1
#define length x2
#define cursor x3
#define left x4
#define blocks x5
#define ragged x6
#define ragged_word w6
#define state x7
#define word w8
#define last x15
#define old_max v29
#define new_max v30

sum0 .req v8
sum1 .req v9
sum2 .req v10
sum3 .req v11
max0 .req v0
max1 .req v1
max2 .req v2
max3 .req v3
part0 .req v4
part1 .req v5
part2 .req v6
part3 .req v7
more0 .req v16
more1 .req v17
more2 .req v18
more3 .req v19

// d = s in each lane whose comparison a is true
.macro four_bit d, s, a
    bit     \d\()0.16b, \s\()0.16b, \a\()0.16b
    bit     \d\()1.16b, \s\()1.16b, \a\()1.16b
    bit     \d\()2.16b, \s\()2.16b, \a\()2.16b
    bit     \d\()3.16b, \s\()3.16b, \a\()3.16b
.endm

// v29 = e^v29 as exp_sixteen_falling; destroys v4, v16, v20.
.macro lone_exp_falling
    fmaxnm  v29.4s, v29.4s, exp_least.4s
    mov     v4.16b, exp_magic.16b
    fmla    v4.4s, v29.4s, exp_factors.s[0]
    fsub    v16.4s, v4.4s, exp_magic.4s
    fmla    v29.4s, v16.4s, exp_factors.s[1]
    fmla    v29.4s, v16.4s, exp_factors.s[2]
    ldr     s16, [exp_second]
    ldr     s20, [exp_third]
    fmla    v16.4s, v29.4s, exp_factors.s[3]
    fmla    v20.4s, v16.4s, v29.4s
    ldr     s16, [exp_fourth]
    fmla    v16.4s, v20.4s, v29.4s
    ldr     s20, [exp_half]
    fmla    v20.4s, v16.4s, v29.4s
    fmul    v16.4s, v29.4s, v29.4s
    fmla    v29.4s, v20.4s, v16.4s
    fadd    v29.4s, v29.4s, exp_one.4s
    mla     v29.4s, v4.4s, exp_numbers.s[0]
    fmul    v29.4s, v29.4s, exp_numbers.s[1]
.endm

func online_softmax_f32_neon
    cbz     rows_left, 9f
    save_vectors
    exp_constants EXP_K_64
    add     blocks, length, #15
    lsr     blocks, blocks, #4
    ands    ragged, length, #15
    b.eq    1f
    mov_word word, 0x03020100
    fmov    s0, word
    sxtl    v0.8h, v0.8b
    sxtl    v0.4s, v0.4h            // 0, 1, 2, 3
    movi    v1.4s, #4
    dup     v2.4s, ragged_word
    add     v3.4s, v0.4s, v1.4s
    cmhs    v12.4s, v0.4s, v2.4s
    add     v0.4s, v3.4s, v1.4s
    cmhs    v13.4s, v3.4s, v2.4s
    add     v3.4s, v0.4s, v1.4s
    cmhs    v14.4s, v0.4s, v2.4s
    cmhs    v15.4s, v3.4s, v2.4s
1:
    cbz     ragged, 2f
    add     last, row, blocks, lsl #6
    sub     last, last, #64
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [last]
    orr     v0.16b, v0.16b, v12.16b
    orr     v1.16b, v1.16b, v13.16b
    orr     v2.16b, v2.16b, v14.16b
    orr     v3.16b, v3.16b, v15.16b
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [last]
2:
    add     state, row, #SCORE_ROW_MAX
    ld1r    {old_max.4s}, [state]
    mov     cursor, row
    mov     left, blocks
    mov     v0.16b, old_max.16b
    mov     v1.16b, old_max.16b
    mov     v2.16b, old_max.16b
    mov     v3.16b, old_max.16b
3:
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [cursor], #64
    sub     left, left, #1
    four    fcmgt, more, part, max
    four_bit max, part, more
    cbnz    left, 3b
    fmax    v0.4s, v0.4s, v2.4s
    fmax    v1.4s, v1.4s, v3.4s
    fmax    v0.4s, v0.4s, v1.4s
    fmaxv   s0, v0.4s
    dup     new_max.4s, v0.s[0]
    str     s0, [row, #SCORE_ROW_MAX]
    fsub    v29.4s, old_max.4s, new_max.4s
    lone_exp_falling
    str     s29, [row, #SCORE_ROW_FACTOR]

    movi    v8.4s, #0
    movi    v9.4s, #0
    movi    v10.4s, #0
    movi    v11.4s, #0
    add     cursor, row, blocks, lsl #6
    subs    left, blocks, #(KV_TILE / 16)
    b.eq    5f
4:
    st1     {v8.4s, v9.4s, v10.4s, v11.4s}, [cursor], #64
    adds    left, left, #1
    b.ne    4b
5:
    mov     cursor, row
    mov     left, blocks
6:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [cursor]
    four_by fsub, exp_x, exp_x, new_max.4s
    sub     left, left, #1
    exp_sixteen_falling
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [cursor], #64
    four    fadd, sum, sum, exp_x
    cbnz    left, 6b
    fold_lanes v8, v9, v10, v11
    ldr     s0, [row, #SCORE_ROW_SUM]
    fmadd   s0, s29, s0, s8
    str     s0, [row, #SCORE_ROW_SUM]
    subs    rows_left, rows_left, #1
    add     row, row, #SCORE_ROW_BYTES
    b.ne    1b
    restore_vectors
9:
    ret
endfunc online_softmax_f32_neon
