// void silu_mul_f32_neon(float *y, const float *gate, const float *up, size_t n)
//
// x0 y  x1 gate  x2 up  x3 n
// x4-x8 as in tail_neon.h, x9-x14 and v24-v28 constants, v8-v11 gate, v30, v31 bounds
// Clobbers x0-x14, v0-v7, v16-v31; d8-d15 are saved; 192 bytes of stack.
//
// Sixteen elements a step, each read before y is written, so that y may be gate or up.
// Below e^-40 nothing is left of 1 + e^-gate but 1, so gate is held in [-89, 40], where 2^-64
// e^-gate is a normal number; a NaN comes back through the division. 16 elements take 57
// instructions for that, 5 for 1 + e^-gate, 4 divisions and 13 others: 225
// cycles in the model of Cortex-A53, 157 in that of Cortex-A72, 52 in that of Neoverse N1, which
// stands for Cortex-A76 (llvm-mca 19).
#include "kernels/arm64/exp_neon.h"
#include "kernels/arm64/tail_neon.h"

#define out x0
#define gate x1
#define up_at x2
#define left x3
#define low_bound v30
#define high_bound v31

gates0 .req v8
gates1 .req v9
gates2 .req v10
gates3 .req v11
ups0 .req v16
ups1 .req v17
ups2 .req v18
ups3 .req v19

func silu_mul_f32_neon
    save_vectors
    sub     sp, sp, #128
    .cfi_adjust_cfa_offset 128
    exp_constants EXP_K_MINUS_64
    mov_word tail_word, F32_MINUS_89
    dup     low_bound.4s, tail_word
    mov_word tail_word, F32_40
    dup     high_bound.4s, tail_word
    mov     tail, #0
1:
    subs    left, left, #16
    b.lo    3f
2:
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [gate], #64
    four_by fmin, exp_x, gates, high_bound.4s
    four_by fmax, exp_x, exp_x, low_bound.4s
    exp_sixteen_gate
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [exp_ones]
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [up_at], #64
    four_by fmla, exp_z, exp_x, exp_numbers.s[2]    // 1 + e^-gate
    four    fdiv, exp_x, gates, exp_z
    four    fmul, exp_x, exp_x, ups
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
    cbz     tail, 1b
    store_tail
    b       4f
3:
    adds    tail, left, #16
    b.eq    4f
    load_tail gate, 0
    load_tail up_at, 64
    mov     tail_out, out
    mov     gate, sp
    add     up_at, sp, #64
    mov     out, sp
    b       2b
4:
    add     sp, sp, #128
    .cfi_adjust_cfa_offset -128
    restore_vectors
    ret
endfunc silu_mul_f32_neon
