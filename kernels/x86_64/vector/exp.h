// e^x of a vector, by the operations of exp_f32 in kernels/ref/scalar.h, in their order.
#ifndef INGOT_KERNELS_X86_64_EXP_H
#define INGOT_KERNELS_X86_64_EXP_H

#include "kernels/x86_64/asm.h"

// Constants fill whole vectors of AVX2, so they can be memory operands and need no registers.
// AVX-512 broadcasts their first words: whole vectors would take twice the cycles to load on Zen 4.
    .section .rodata.kernels_exp_table, "aG", @progbits, kernels_exp_table, comdat
    .p2align 6
    .weak   kernels_exp_table
    .hidden kernels_exp_table
    .type   kernels_exp_table, @object
kernels_exp_table:
    .fill   8, 4, 0xc2d00000        // -104
    .fill   8, 4, 0x42b20000        // 89
    .fill   8, 4, 0x4b400000        // 1.5 * 2^23
    .fill   8, 4, 0x3fb8aa3b        // 0x1.715476p+0, log2 e
    .fill   8, 4, 0xbf317218        // -0x1.62e430p-1, -ln 2 in two parts
    .fill   8, 4, 0x3102e308        // 0x1.05c610p-29
    .fill   8, 4, 0x3ab6889e        // 0x1.6d113cp-10, coefficients of q, highest power first
    .fill   8, 4, 0x3c0905d1        // 0x1.120ba2p-7
    .fill   8, 4, 0x3d2aaa8d        // 0x1.55551ap-5
    .fill   8, 4, 0x3e2aaa6e        // 0x1.5554dcp-3
    .fill   8, 4, 0x3f000000        // 0.5
    .fill   8, 4, 0x3f800000        // 1; as an integer, exponent 127
    .fill   8, 4, 0x80000000        // sign
    .size   kernels_exp_table, . - kernels_exp_table

#define exp_least       kernels_exp_table
#define exp_greatest    kernels_exp_table+32
#define exp_magic       kernels_exp_table+64
#define exp_log2_e      kernels_exp_table+96
#define exp_ln2_high    kernels_exp_table+128
#define exp_ln2_low     kernels_exp_table+160
#define exp_q4          kernels_exp_table+192
#define exp_q3          kernels_exp_table+224
#define exp_q2          kernels_exp_table+256
#define exp_q1          kernels_exp_table+288
#define exp_half        kernels_exp_table+320
#define exp_one         kernels_exp_table+352
#define exp_sign        kernels_exp_table+384

// Do `op` with the registers `to` and `from`, of kind v, and one of the constants.
.macro op_constant op, v, to, from, constant
    .ifc \v, zmm
    \op     zmm\to, zmm\from, dword ptr [rip + \constant]{1to16}
    .else
    \op     ymm\to, ymm\from, [rip + \constant]
    .endif
.endm

// v x = e^x, or e^(x - rest) if `rest` is given, as in exp_sum2_f32. v is ymm or zmm; int, tmp and sum are
// scratch. If the first operand of max or min is NaN, the result is the second operand. x is the first, so NaN
// counts as -104. The macro takes 28 instructions with ymm and 17 with zmm. vscalefps multiplies by 2^n with one
// rounding. The two steps with ymm also round once, because the first step is exact. On Intel cores an underflow
// takes about 100 cycles. So lanes of at most -104, among them all masked lanes, get +0 through mask k7, which
// the zmm form destroys.
.macro exp_lanes v, x, int, tmp, sum, rest
    op_constant vmaxps, \v, \x, \x, exp_least
    op_constant vminps, \v, \x, \x, exp_greatest
    .ifc \v, zmm
    vcmpgtps k7, zmm\x, dword ptr [rip + exp_least]{1to16}
    .endif
    vbroadcastss \v\int, dword ptr [rip + exp_magic]
    vbroadcastss \v\sum, dword ptr [rip + exp_q4]
    op_constant vfmadd231ps, \v, \int, \x, exp_log2_e
    op_constant vsubps, \v, \tmp, \int, exp_magic // n
    op_constant vfmadd231ps, \v, \x, \tmp, exp_ln2_high
    op_constant vfmadd231ps, \v, \x, \tmp, exp_ln2_low // r
    .ifnb \rest
    vsubps  \v\x, \v\x, \v\rest
    .endif
    op_constant vfmadd213ps, \v, \sum, \x, exp_q3
    op_constant vfmadd213ps, \v, \sum, \x, exp_q2
    op_constant vfmadd213ps, \v, \sum, \x, exp_q1
    op_constant vfmadd213ps, \v, \sum, \x, exp_half // q(r)
    .ifc \v, zmm
    vmulps  zmm\int, zmm\x, zmm\x
    vfmadd213ps zmm\sum, zmm\int, zmm\x
    op_constant vaddps, zmm, \sum, \sum, exp_one
    vscalefps zmm\x{k7}{z}, zmm\sum, zmm\tmp
    .else
    op_constant vpsubd, ymm, \int, \int, exp_magic // n as an integer
    vmulps  ymm\tmp, ymm\x, ymm\x
    vfmadd213ps ymm\sum, ymm\tmp, ymm\x
    vpsrad  ymm\tmp, ymm\int, 1
    vpsubd  ymm\int, ymm\int, ymm\tmp
    op_constant vaddps, ymm, \sum, \sum, exp_one
    vpslld  ymm\tmp, ymm\tmp, 23
    vpslld  ymm\int, ymm\int, 23
    op_constant vpaddd, ymm, \tmp, \tmp, exp_one // 2^(n / 2), as bits
    op_constant vpaddd, ymm, \int, \int, exp_one
    vmulps  ymm\sum, ymm\sum, ymm\tmp
    vmulps  ymm\x, ymm\sum, ymm\int
    .endif
.endm

#endif
