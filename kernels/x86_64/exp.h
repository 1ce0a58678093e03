// e^x of eight or sixteen floats, the operations of exp_f32 in kernels/ref/scalar.h in their order.
#ifndef INGOT_KERNELS_X86_64_EXP_H
#define INGOT_KERNELS_X86_64_EXP_H

#include "kernels/x86_64/asm.h"

// Constants as whole vectors, so that they are memory operands and hold no register.
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
    .fill   8, 4, 0x3ab6889e        // 0x1.6d113cp-10, q from the top
    .fill   8, 4, 0x3c0905d1        // 0x1.120ba2p-7
    .fill   8, 4, 0x3d2aaa8d        // 0x1.55551ap-5
    .fill   8, 4, 0x3e2aaa6e        // 0x1.5554dcp-3
    .fill   8, 4, 0x3f000000        // 0.5
    .fill   8, 4, 0x3f800000        // 1, and as an integer exponent 127
    .fill   8, 4, 0x80000000        // sign
    .size   kernels_exp_table, . - kernels_exp_table

#define exp_least       [rip + kernels_exp_table]
#define exp_greatest    [rip + kernels_exp_table + 32]
#define exp_magic       [rip + kernels_exp_table + 64]
#define exp_log2_e      [rip + kernels_exp_table + 96]
#define exp_ln2_high    [rip + kernels_exp_table + 128]
#define exp_ln2_low     [rip + kernels_exp_table + 160]
#define exp_q4          [rip + kernels_exp_table + 192]
#define exp_q3          [rip + kernels_exp_table + 224]
#define exp_q2          [rip + kernels_exp_table + 256]
#define exp_q1          [rip + kernels_exp_table + 288]
#define exp_half        [rip + kernels_exp_table + 320]
#define exp_one         [rip + kernels_exp_table + 352]
#define exp_sign        [rip + kernels_exp_table + 384]

// ymm x = e^x; int, tmp and sum are scratch. The second operand of max and min is the result
// where the first is NaN: x comes first, so that NaN counts as -104. 28 instructions. With ymm rest
// it is e^(x - rest) as exp_sum2_f32 has it.
.macro exp_eight x, int, tmp, sum, rest
    vmaxps  ymm\x, ymm\x, exp_least
    vminps  ymm\x, ymm\x, exp_greatest
    vmovaps ymm\int, exp_magic
    vmovaps ymm\sum, exp_q4
    vfmadd231ps ymm\int, ymm\x, exp_log2_e
    vsubps  ymm\tmp, ymm\int, exp_magic
    vpsubd  ymm\int, ymm\int, exp_magic
    vfmadd231ps ymm\x, ymm\tmp, exp_ln2_high
    vfmadd231ps ymm\x, ymm\tmp, exp_ln2_low     // r
    .ifnb \rest
    vsubps  ymm\x, ymm\x, ymm\rest
    .endif
    vfmadd213ps ymm\sum, ymm\x, exp_q3
    vfmadd213ps ymm\sum, ymm\x, exp_q2
    vfmadd213ps ymm\sum, ymm\x, exp_q1
    vfmadd213ps ymm\sum, ymm\x, exp_half        // q(r)
    vmulps  ymm\tmp, ymm\x, ymm\x
    vfmadd213ps ymm\sum, ymm\tmp, ymm\x
    vpsrad  ymm\tmp, ymm\int, 1
    vpsubd  ymm\int, ymm\int, ymm\tmp
    vaddps  ymm\sum, ymm\sum, exp_one
    vpslld  ymm\tmp, ymm\tmp, 23
    vpslld  ymm\int, ymm\int, 23
    vpaddd  ymm\tmp, ymm\tmp, exp_one           // 2^(n / 2), as bits
    vpaddd  ymm\int, ymm\int, exp_one
    vmulps  ymm\sum, ymm\sum, ymm\tmp
    vmulps  ymm\x, ymm\sum, ymm\int
.endm

// The same of zmm x; tmp, sum and other are scratch. vscalefps multiplies by 2^n with one rounding,
// as the two steps above do, the first of which is exact. 16 instructions.
.macro exp_sixteen x, tmp, sum, other, rest
    vmaxps  zmm\x, zmm\x, dword ptr exp_least{1to16}
    vminps  zmm\x, zmm\x, dword ptr exp_greatest{1to16}
    vbroadcastss zmm\tmp, dword ptr exp_magic
    vbroadcastss zmm\sum, dword ptr exp_q4
    vfmadd231ps zmm\tmp, zmm\x, dword ptr exp_log2_e{1to16}
    vsubps  zmm\tmp, zmm\tmp, dword ptr exp_magic{1to16}
    vfmadd231ps zmm\x, zmm\tmp, dword ptr exp_ln2_high{1to16}
    vfmadd231ps zmm\x, zmm\tmp, dword ptr exp_ln2_low{1to16}  // r
    .ifnb \rest
    vsubps  zmm\x, zmm\x, zmm\rest
    .endif
    vfmadd213ps zmm\sum, zmm\x, dword ptr exp_q3{1to16}
    vfmadd213ps zmm\sum, zmm\x, dword ptr exp_q2{1to16}
    vfmadd213ps zmm\sum, zmm\x, dword ptr exp_q1{1to16}
    vfmadd213ps zmm\sum, zmm\x, dword ptr exp_half{1to16}     // q(r)
    vmulps  zmm\other, zmm\x, zmm\x
    vfmadd213ps zmm\sum, zmm\other, zmm\x
    vaddps  zmm\sum, zmm\sum, dword ptr exp_one{1to16}
    vscalefps zmm\x, zmm\sum, zmm\tmp
.endm

#endif
