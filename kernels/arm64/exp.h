// e^x of sixteen floats, the operations of exp_f32 in kernels/ref/scalar.h in their order.
#ifndef INGOT_KERNELS_ARM64_EXP_H
#define INGOT_KERNELS_ARM64_EXP_H

// Constants live in v24-v29, x in v0-v3; v4-v7 and v16-v23 are scratch.
exp_x0 .req v0
exp_x1 .req v1
exp_x2 .req v2
exp_x3 .req v3
exp_n0 .req v4
exp_n1 .req v5
exp_n2 .req v6
exp_n3 .req v7
exp_i0 .req v16
exp_i1 .req v17
exp_i2 .req v18
exp_i3 .req v19
exp_q0 .req v20
exp_q1 .req v21
exp_q2 .req v22
exp_q3 .req v23
#define exp_factors v24     /* log2 e, -ln 2 in two parts, first coefficient */
#define exp_coefficients v25 /* second to fourth */
#define exp_magic v26       /* 1.5 * 2^23 */
#define exp_least v27
#define exp_greatest v28
#define exp_one v29         /* as an integer: exponent 127 */

// Load the constants; destroys x9.
.macro exp_constants
    mov_word w9, 0x3fb8aa3b         // 0x1.715476p+0
    ins     exp_factors.s[0], w9
    mov_word w9, 0xbf317218         // -0x1.62e430p-1
    ins     exp_factors.s[1], w9
    mov_word w9, 0x3102e308         // 0x1.05c610p-29
    ins     exp_factors.s[2], w9
    mov_word w9, 0x3ab6889e         // 0x1.6d113cp-10
    ins     exp_factors.s[3], w9
    mov_word w9, 0x3c0905d1         // 0x1.120ba2p-7
    ins     exp_coefficients.s[0], w9
    mov_word w9, 0x3d2aaa8d         // 0x1.55551ap-5
    ins     exp_coefficients.s[1], w9
    mov_word w9, 0x3e2aaa6e         // 0x1.5554dcp-3
    ins     exp_coefficients.s[2], w9
    mov_word w9, 0x4b400000
    dup     exp_magic.4s, w9
    mov_word w9, 0xc2d00000         // -104
    dup     exp_least.4s, w9
    mov_word w9, 0x42b20000         // 89
    dup     exp_greatest.4s, w9
    fmov    exp_one.4s, #1.0
.endm

// One operation on four registers: of groups d, a, b; of d, a and a constant; of d and a constant.
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

.macro four_set op, d, shape, constant:vararg
    \op     \d\()0.\shape, \constant
    \op     \d\()1.\shape, \constant
    \op     \d\()2.\shape, \constant
    \op     \d\()3.\shape, \constant
.endm

// v0-v3 = e^(v0-v3). A quiet NaN counts as -104. 27 instructions for four values; four
// registers go side by side, because each step waits for the one before.
.macro exp_sixteen
    four_by fmaxnm, exp_x, exp_x, exp_least.4s
    four_set mov, exp_i, 16b, exp_magic.16b
    four_by fmin, exp_x, exp_x, exp_greatest.4s
    four_by fmla, exp_i, exp_x, exp_factors.s[0]
    four_set dup, exp_q, 4s, exp_coefficients.s[0]
    four_by fsub, exp_n, exp_i, exp_magic.4s
    four_by sub, exp_i, exp_i, exp_magic.4s
    four_by fmla, exp_x, exp_n, exp_factors.s[1]
    four_by fmla, exp_x, exp_n, exp_factors.s[2]    // r
    four_set dup, exp_n, 4s, exp_coefficients.s[1]
    four_by fmla, exp_q, exp_x, exp_factors.s[3]
    four    fmla, exp_n, exp_q, exp_x
    four_set dup, exp_q, 4s, exp_coefficients.s[2]
    four    fmla, exp_q, exp_n, exp_x
    four_set fmov, exp_n, 4s, #0.5
    four    fmla, exp_n, exp_q, exp_x               // q(r)
    four    fmul, exp_q, exp_x, exp_x
    four    fmla, exp_x, exp_n, exp_q
    four_by sshr, exp_q, exp_i, #1
    four_by fadd, exp_x, exp_x, exp_one.4s
    four    sub, exp_i, exp_i, exp_q
    four_by shl, exp_q, exp_q, #23
    four_by shl, exp_i, exp_i, #23
    four_by add, exp_q, exp_q, exp_one.4s           // 2^(i / 2), as bits
    four_by add, exp_i, exp_i, exp_one.4s
    four    fmul, exp_x, exp_x, exp_q
    four    fmul, exp_x, exp_x, exp_i
.endm

#endif
