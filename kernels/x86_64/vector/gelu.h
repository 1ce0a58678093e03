// gelu of a vector, by the operations of gelu_tanh_f32 in kernels/ref/scalar.h, in their order.
#ifndef INGOT_KERNELS_X86_64_GELU_H
#define INGOT_KERNELS_X86_64_GELU_H

#include "kernels/x86_64/vector/exp.h"

    .section .rodata.kernels_gelu_table, "aG", @progbits, kernels_gelu_table, comdat
    .p2align 6
    .weak   kernels_gelu_table
    .hidden kernels_gelu_table
    .type   kernels_gelu_table, @object
kernels_gelu_table:
    .fill   8, 4, 0xc1800000        // -16
    .fill   8, 4, 0x41800000        // 16
    .fill   8, 4, 0x3fcc422a        // 0x1.988454p+0, c1 = 2 sqrt(2 / pi) in two parts
    .fill   8, 4, 0xb342bc9b        // -0x1.857936p-25
    .fill   8, 4, 0x3d922279        // 0x1.2444f2p-4, c3 = 0.044715 c1
    .fill   8, 4, 0x3124d8b5        // 0x1.49b16ap-29
    .size   kernels_gelu_table, . - kernels_gelu_table

#define gelu_least      kernels_gelu_table
#define gelu_greatest   kernels_gelu_table+32
#define gelu_c1         kernels_gelu_table+64
#define gelu_c1_low     kernels_gelu_table+96
#define gelu_c3         kernels_gelu_table+128
#define gelu_c3_low     kernels_gelu_table+160

// v y = gelu of v x; v x does not change. v is ymm or zmm; the other registers are
// scratch. If x is NaN, vmaxps returns its second operand, -16; the division then
// restores the NaN. The macro takes 54 instructions with ymm, 42 with zmm.
.macro gelu_lanes v, y=0, square=1, cubic=2, factor=3, x=4, low=5, rest=6, c1=7
    op_constant vmaxps, \v, \y, \x, gelu_least
    vbroadcastss \v\c1, dword ptr [rip + gelu_c1]
    op_constant vminps, \v, \y, \y, gelu_greatest
    vmulps  \v\square, \v\y, \v\y
    op_constant vmulps, \v, \cubic, \square, gelu_c3
    vaddps  \v\factor, \v\cubic, \v\c1
    vsubps  \v\low, \v\factor, \v\c1
    vsubps  \v\rest, \v\factor, \v\low
    vsubps  \v\low, \v\cubic, \v\low
    vsubps  \v\rest, \v\c1, \v\rest
    op_constant vfmsub231ps, \v, \cubic, \square, gelu_c3
    vaddps  \v\low, \v\rest, \v\low
    vmovaps \v\rest, \v\square
    vfmsub231ps \v\rest, \v\y, \v\y
    vaddps  \v\low, \v\low, \v\cubic
    op_constant vfmadd231ps, \v, \low, \rest, gelu_c3
    op_constant vfmadd231ps, \v, \low, \square, gelu_c3_low
    op_constant vaddps, \v, \low, \low, gelu_c1_low
    vmulps  \v\square, \v\y, \v\factor // u
    vmovaps \v\cubic, \v\square
    vfmsub231ps \v\cubic, \v\y, \v\factor
    vfmadd213ps \v\low, \v\y, \v\cubic
    op_constant vxorps, \v, \y, \square, exp_sign
    exp_lanes \v, \y, \square, \cubic, \factor, \low
    op_constant vaddps, \v, \y, \y, exp_one
    vdivps  \v\y, \v\x, \v\y
.endm

#endif
