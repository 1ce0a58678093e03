/* void gelu_f32_rvv(float *y, const float *x, size_t n)
 *
 * a0 y (may be x), a1 x, a2 n. Clobbers a0-a2, t0-t1, ft0-ft10,
 * fa0-fa7, v0-v23. A step of 4 registers takes 54 instructions. */
#include "kernels/riscv64/vector/gelu_rvv.h"

#define dst a0
#define src a1
#define left a2
#define taken t0
#define bytes t1

#define values v0      /* m4 each */
#define divisors v20

func gelu_f32_rvv, v
    beqz left, .Ldone
    gelu_constants taken
.Lstep:
    vsetvli taken, left, e32, m4, ta, ma
    vle32.v values, (src)
    slli bytes, taken, 2
    sub left, left, taken
    gelu_divisor divisors, values, v4, v8, v12, v16
    vle32.v values, (src)
    add src, src, bytes
    vfdiv.vv values, values, divisors
    vse32.v values, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
