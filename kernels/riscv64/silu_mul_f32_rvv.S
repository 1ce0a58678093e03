/* void silu_mul_f32_rvv(float *y, const float *gate, const float *up, size_t n)
 *
 * a0 y (may be gate or up), a1 gate, a2 up, a3 n. Clobbers a0-a3, t0-t1, t6, ft0-ft7, fa3-fa6,
 * v0-v23. 4 registers a step, 40 instructions. */
#include "kernels/riscv64/exp.h"

#define dst a0
#define gate a1
#define up_at a2
#define left a3
#define taken t0
#define bytes t1

#define gates v0       /* m4 each */
#define ups v4
#define negated v8
#define whole v12
#define scratch v16
#define result v20

func silu_mul_f32_rvv, v
    beqz left, .Ldone
    exp_constants taken
.Lstep:
    vsetvli taken, left, e32, m4, ta, ma
    vle32.v gates, (gate)
    vle32.v ups, (up_at)
    slli bytes, taken, 2
    sub left, left, taken
    vfneg.v negated, gates
    exp_lanes result, negated, whole, scratch
    vfadd.vf result, result, exp_one
    add gate, gate, bytes
    vfdiv.vv result, gates, result
    add up_at, up_at, bytes
    vfmul.vv result, result, ups
    vse32.v result, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
