/* void silu_mul_f32_rvv(float *y, const float *gate, const float *up, size_t n)
 *
 * a0 y (may be gate or up), a1 gate, a2 up, a3 n. Clobbers a0-a3, t0-t1, ft0-ft7, fa3-fa7,
 * v0-v31. 35 instructions per 8 registers; the gate is read
 * again for the division, because exp needs all registers. */
#include "kernels/riscv64/vector/exp_rvv.h"

#define dst a0
#define gate a1
#define up_at a2
#define left a3
#define taken t0
#define bytes t1

#define gates v0       /* m8 each */
#define whole v8
#define scratch v16
#define result v24
#define ups v8

func silu_mul_f32_rvv, v
    beqz left, .Ldone
    exp_gate_constants taken
.Lstep:
    vsetvli taken, left, e32, m8, ta, ma
    vle32.v gates, (gate)
    slli bytes, taken, 2
    sub left, left, taken
    exp_of_gate result, gates, whole, scratch
    vle32.v gates, (gate)
    vle32.v ups, (up_at)
    vfdiv.vv result, gates, result
    add gate, gate, bytes
    add up_at, up_at, bytes
    vfmul.vv result, result, ups
    vse32.v result, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
