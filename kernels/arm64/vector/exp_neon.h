// e^x of sixteen floats: the operations of exp_f32 in kernels/ref/scalar.h in the same order,
// without the operations that never change a bit of the result.
//
// A vector fma overwrites its addend, here mostly a constant. One ld1 loads the constant from a
// table to four registers; it replaces four moves, and uses ports that arithmetic leaves idle. z =
// x log2 e + magic has the integer n + k in its low bits, with n = x log2 e rounded and k from the
// magic. So one mla by 2^23 scales a float by 2^(n + k), whatever the higher bits of z are. The
// kernel chooses k so that the product is a normal number, and a last multiplication by 2^-k rounds
// once.
#ifndef INGOT_KERNELS_ARM64_EXP_NEON_H
#define INGOT_KERNELS_ARM64_EXP_NEON_H

// Constants live in v24-v29, x in v0-v3; v4-v7 (z) and v16-v23 are scratch.
exp_x0 .req v0
exp_x1 .req v1
exp_x2 .req v2
exp_x3 .req v3
exp_z0 .req v4
exp_z1 .req v5
exp_z2 .req v6
exp_z3 .req v7
exp_p0 .req v16
exp_p1 .req v17
exp_p2 .req v18
exp_p3 .req v19
exp_q0 .req v20
exp_q1 .req v21
exp_q2 .req v22
exp_q3 .req v23
#define exp_factors v24         /* log2 e, -ln 2 in two parts, and the first coefficient */
#define exp_numbers v25         /* the integer 2^23, 2^-64, 2^64 */
#define exp_one v26
#define exp_least v27
#define exp_magic v28
#define exp_greatest v29

// exp_constants points x9-x14 to the rows of the table.
#define exp_ones x9
#define exp_second x10          /* coefficient */
#define exp_third x11
#define exp_fourth x12
#define exp_half x13
#define exp_magics x14

#define EXP_K_ZERO 64           /* rows of magic for k = 0, 64, -64 */
#define EXP_K_64 128
#define EXP_K_MINUS_64 192

.macro four_words value
    .4byte  \value, \value, \value, \value
.endm

.macro sixteen_words value
    four_words \value
    four_words \value
    four_words \value
    four_words \value
.endm

    .section .rodata.exp_table, "aM", %progbits, 576    // one copy for all kernels, merged by the linker
    .balign 64
exp_table:
    .4byte  0x3fb8aa3b          // 0x1.715476p+0
    .4byte  0xbf317218          // -0x1.62e430p-1
    .4byte  0x3102e308          // 0x1.05c610p-29
    .4byte  0x3ab6889e          // 0x1.6d113cp-10
    .4byte  1 << 23, 0x1f800000, 0x5f800000, 0
    four_words 0x3f800000
    four_words 0xc2d00000       // -104
    sixteen_words 0x4b400000    // magic: 1.5 * 2^23
    sixteen_words 0x4b400040    // + 64
    sixteen_words 0x4b3fffc0    // - 64
    sixteen_words 0x3c0905d1    // 0x1.120ba2p-7
    sixteen_words 0x3d2aaa8d    // 0x1.55551ap-5
    sixteen_words 0x3e2aaa6e    // 0x1.5554dcp-3
    sixteen_words 0x3f000000
    sixteen_words 0x3f800000

// Load the constants; k is one of EXP_K. Clobbers x9-x14.
.macro exp_constants k
    adrp    exp_ones, exp_table
    add     exp_ones, exp_ones, :lo12:exp_table
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [exp_ones]
    add     exp_magics, exp_ones, #\k
    add     exp_second, exp_ones, #256
    add     exp_third, exp_ones, #320
    add     exp_fourth, exp_ones, #384
    add     exp_half, exp_ones, #448
    add     exp_ones, exp_ones, #512
    ld1r    {exp_magic.4s}, [exp_magics]
.endm

// Do one operation on four registers: on groups d, a, b; on d, a and a constant; or on d, a
// constant and a.
.macro four op, d, a, b
    \op     \d\()0.4s, \a\()0.4s, \b\()0.4s
    \op     \d\()1.4s, \a\()1.4s, \b\()1.4s
    \op     \d\()2.4s, \a\()2.4s, \b\()2.4s
    \op     \d\()3.4s, \a\()3.4s, \b\()3.4s
.endm

.macro four_by op, d, a, constant:vararg
    \op     \d\()0.4s, \a\()0.4s, \constant
    \op     \d\()1.4s, \a\()1.4s, \constant
    \op     \d\()2.4s, \a\()2.4s, \constant
    \op     \d\()3.4s, \a\()3.4s, \constant
.endm

.macro four_from op, d, constant, a
    \op     \d\()0.4s, \constant, \a\()0.4s
    \op     \d\()1.4s, \constant, \a\()1.4s
    \op     \d\()2.4s, \constant, \a\()2.4s
    \op     \d\()3.4s, \constant, \a\()3.4s
.endm

// v0-v3 = r of x, and v4-v7 = z. If fma is fmls, v0-v3 = -r, and r and z are those of -x. Four
// registers are computed together, because each step waits for the previous one.
.macro exp_reduce fma
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [exp_magics]
    four_by \fma, exp_z, exp_x, exp_factors.s[0]
    four_by fsub, exp_p, exp_z, exp_magic.4s        // n
    four_by \fma, exp_x, exp_p, exp_factors.s[1]
    four_by \fma, exp_x, exp_p, exp_factors.s[2]
.endm

// v0-v3 = e^r. On entry v0-v3 = r, or -r if the operations are fmls and fsub.
.macro exp_polynomial fma, add
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [exp_second]
    four_by \fma, exp_p, exp_x, exp_factors.s[3]
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [exp_third]
    four    \fma, exp_q, exp_p, exp_x
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [exp_fourth]
    four    \fma, exp_p, exp_q, exp_x
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [exp_half]
    four    \fma, exp_q, exp_p, exp_x               // q(r)
    four    fmul, exp_p, exp_x, exp_x
    four    \fma, exp_x, exp_q, exp_p
    four_from \add, exp_x, exp_one.4s, exp_x
.endm

// v0-v3 = e^x for x <= 0 or NaN, with EXP_K_64. A NaN is treated as -104; it must be a quiet NaN.
.macro exp_sixteen_falling
    four_by fmaxnm, exp_x, exp_x, exp_least.4s
    exp_reduce fmla
    exp_polynomial fmla, fadd
    four_by mla, exp_x, exp_z, exp_numbers.s[0]
    four_by fmul, exp_x, exp_x, exp_numbers.s[1]
.endm

// Like exp_sixteen_falling, but for any x, with EXP_K_ZERO and 89 in exp_greatest: 2^n is applied
// in two factors, first 2^(n / 2).
.macro exp_sixteen
    four_by fmaxnm, exp_x, exp_x, exp_least.4s
    four_by fmin, exp_x, exp_x, exp_greatest.4s
    exp_reduce fmla
    exp_polynomial fmla, fadd
    four_by sshr, exp_p, exp_z, #1
    four    sub, exp_z, exp_z, exp_p
    four_by mla, exp_x, exp_p, exp_numbers.s[0]
    four_by shl, exp_z, exp_z, #23
    four_by add, exp_z, exp_z, exp_one.4s
    four    fmul, exp_x, exp_x, exp_z
.endm

// v0-v3 = e^-x times 2^-64 for x from -89 to 40, with EXP_K_MINUS_64.
.macro exp_sixteen_gate
    exp_reduce fmls
    exp_polynomial fmls, fsub
    four_by mla, exp_x, exp_z, exp_numbers.s[0]
.endm

#endif
