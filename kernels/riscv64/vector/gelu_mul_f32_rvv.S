/* void gelu_mul_f32_rvv(float *y, const float *gate, const float *up, size_t n)
 *
 * a0 y (may be gate or up), a1 gate, a2 up, a3 n. Clobbers a0-a3, t0-t1, ft0-ft10, fa0-fa7,
 * v0-v23. A step of 4 registers takes 57 instructions. */
#include "kernels/riscv64/vector/gelu_rvv.h"

#define dst a0
#define gate a1
#define up_at a2
#define left a3
#define taken t0
#define bytes t1

#define gates v0       /* m4 each */
#define ups v4
#define divisors v20

func gelu_mul_f32_rvv, v
    beqz left, .Ldone
    gelu_constants taken
.Lstep:
    vsetvli taken, left, e32, m4, ta, ma
    vle32.v gates, (gate)
    slli bytes, taken, 2
    sub left, left, taken
    gelu_divisor divisors, gates, v4, v8, v12, v16
    vle32.v gates, (gate)
    vle32.v ups, (up_at)
    vfdiv.vv gates, gates, divisors
    add gate, gate, bytes
    add up_at, up_at, bytes
    vfmul.vv gates, gates, ups
    vse32.v gates, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
