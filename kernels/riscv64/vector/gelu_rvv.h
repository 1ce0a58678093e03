/* GELU of a vector, by the sequence of operations of gelu_tanh_f32 in ref/scalar.h. */
#ifndef INGOT_KERNELS_RISCV64_GELU_RVV_H
#define INGOT_KERNELS_RISCV64_GELU_RVV_H

#include "kernels/riscv64/vector/exp_rvv.h"

/* Constants in addition to those of exp_rvv.h. */
#define gelu_c1 fa0
#define gelu_c3 fa1
#define gelu_c1_low fa2
#define gelu_c3_low ft8
#define gelu_lowest ft9   /* -16 */
#define gelu_highest ft10

.section .rodata.gelu_table, "a", @progbits
    .balign 4
.Lgelu_table:
    .word 0x3fcc422a, 0x3d922279 /* 0x1.988454p+0, 0x1.2444f2p-4 */
    .word 0xb342bc9b, 0x3124d8b5 /* -0x1.857936p-25, 0x1.49b16ap-29 */
    .word 0xc1800000, 0x41800000 /* -16, 16 */

.macro gelu_constants temp
    exp_gate_constants \temp
    lla \temp, .Lgelu_table
    flw gelu_c1, 0(\temp)
    flw gelu_c3, 4(\temp)
    flw gelu_c1_low, 8(\temp)
    flw gelu_c3_low, 12(\temp)
    flw gelu_lowest, 16(\temp)
    flw gelu_highest, 20(\temp)
.endm

/* \out = 1 + exp(-u(\val)), 44 instructions; destroys all others. */
.macro gelu_divisor out, val, square, cubic, rest, low
    vfmax.vf \val, \val, gelu_lowest
    vfmin.vf \val, \val, gelu_highest
    vfmul.vv \square, \val, \val
    vfmul.vf \cubic, \square, gelu_c3
    vfadd.vf \out, \cubic, gelu_c1     /* factor */
    vfsub.vf \rest, \out, gelu_c1
    vfsub.vv \low, \out, \rest
    vfrsub.vf \low, \low, gelu_c1
    vfsub.vv \rest, \cubic, \rest
    vfadd.vv \low, \low, \rest
    vfmsac.vf \cubic, gelu_c3, \square /* what the product lost */
    vfadd.vv \low, \low, \cubic
    vmv.v.v \rest, \square
    vfmsac.vv \rest, \val, \val        /* what the square lost */
    vfmacc.vf \low, gelu_c3, \rest
    vfmacc.vf \low, gelu_c3_low, \square
    vfadd.vf \low, \low, gelu_c1_low
    vfmul.vv \square, \val, \out       /* u */
    vfmsub.vv \out, \val, \square
    vfmadd.vv \low, \val, \out
    exp_of_gate \out, \square, \cubic, \rest, \low
.endm

#endif
