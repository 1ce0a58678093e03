// The tanh form of GELU of sixteen floats, the operations of gelu_tanh_f32 in kernels/ref/scalar.h.
#ifndef INGOT_KERNELS_ARM64_GELU_NEON_H
#define INGOT_KERNELS_ARM64_GELU_NEON_H

#include "kernels/arm64/asm.h"
#include "kernels/arm64/vector/exp_neon.h"

// Uses v29-v31 in addition to the constants of e^x; v8-v15 are scratch.
#define gelu_bounds x15         /* where -16, 16, -89, 40 are */
#define gelu_c1_low v29
#define gelu_c1 v30
#define gelu_c3 v31             /* high part and low part */

gelu_square0 .req v4            /* later u */
gelu_square1 .req v5
gelu_square2 .req v6
gelu_square3 .req v7
gelu_factor0 .req v8
gelu_factor1 .req v9
gelu_factor2 .req v10
gelu_factor3 .req v11
gelu_rest0 .req v12
gelu_rest1 .req v13
gelu_rest2 .req v14
gelu_rest3 .req v15

.macro gelu_constants
    exp_constants EXP_K_MINUS_64
    adrp    gelu_bounds, gelu_table
    add     gelu_bounds, gelu_bounds, :lo12:gelu_table
    ld1     {v29.4s, v30.4s, v31.4s}, [gelu_bounds], #48
.endm

    .section .rodata.gelu_table, "aM", %progbits, 64
    .balign 64
gelu_table:
    four_words 0xb342bc9b       // c1_low -0x1.857936p-25
    four_words 0x3fcc422a       // c1 0x1.988454p+0
    .4byte  0x3d922279          // c3 0x1.2444f2p-4
    .4byte  0x3124d8b5          // c3_low 0x1.49b16ap-29
    .4byte  0, 0
    .4byte  0xc1800000, 0x41800000, 0xc2b20000, 0x42200000

.macro four_move d, a
    mov     \d\()0.16b, \a\()0.16b
    mov     \d\()1.16b, \a\()1.16b
    mov     \d\()2.16b, \a\()2.16b
    mov     \d\()3.16b, \a\()3.16b
.endm

// v0-v3 = x / (1 + e^-u); on entry x is in v0-v3 and at [\again]. Destroys v0-v23. As in
// silu_mul_f32_neon, u is clamped to [-89, 40]. To negate the error term, its operands are negated:
// fmls replaces fma and fneg.
.macro gelu_sixteen again
    ld4r    {v8.4s, v9.4s, v10.4s, v11.4s}, [gelu_bounds]
    four_by fmax, exp_x, exp_x, v8.4s
    four_by fmin, exp_x, exp_x, v9.4s
    four    fmul, gelu_square, exp_x, exp_x
    four_by fmul, exp_p, gelu_square, gelu_c3.s[0]  // cubic
    four_by fadd, gelu_factor, exp_p, gelu_c1.4s
    four_by fsub, gelu_rest, gelu_factor, gelu_c1.4s
    four    fsub, exp_q, gelu_factor, gelu_rest
    four_from fsub, exp_q, gelu_c1.4s, exp_q
    four    fsub, gelu_rest, exp_p, gelu_rest
    four    fadd, exp_q, exp_q, gelu_rest           // low
    four_by fmls, exp_p, gelu_square, gelu_c3.s[0]
    four    fsub, exp_q, exp_q, exp_p
    four_move gelu_rest, gelu_square
    four    fmls, gelu_rest, exp_x, exp_x
    four_by fmls, exp_q, gelu_rest, gelu_c3.s[0]
    four_by fmla, exp_q, gelu_square, gelu_c3.s[1]
    four_by fadd, exp_q, exp_q, gelu_c1_low.4s
    four    fmul, gelu_square, exp_x, gelu_factor   // u
    four_move gelu_rest, gelu_square
    four    fmls, gelu_rest, exp_x, gelu_factor
    four    fmls, gelu_rest, exp_x, exp_q           // -low of u
    ld4r    {v8.4s, v9.4s, v10.4s, v11.4s}, [gelu_bounds]
    four_by fmin, exp_x, gelu_square, v11.4s
    four_by fmax, exp_x, exp_x, v10.4s
    exp_reduce fmls
    four    fsub, exp_x, exp_x, gelu_rest
    exp_polynomial fmls, fsub
    four_by mla, exp_x, exp_z, exp_numbers.s[0]
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [exp_ones]
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [\again], #64
    four_by fmla, exp_z, exp_x, exp_numbers.s[2]
    four    fdiv, exp_x, gelu_factor, exp_z
.endm

#endif
