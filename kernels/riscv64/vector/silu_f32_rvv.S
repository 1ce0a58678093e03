/* void silu_f32_rvv(float *y, const float *x, size_t n)
 *
 * a0 y (may be x), a1 x, a2 n. Clobbers a0-a2, t0-t1, ft0-ft7, fa3-fa7, v0-v31.
 * 32 instructions per 8 registers; x is read again for the division, because exp needs all
 * registers. */
#include "kernels/riscv64/vector/exp_rvv.h"

#define dst a0
#define src a1
#define left a2
#define taken t0
#define bytes t1

#define gates v0       /* m8 each */
#define whole v8
#define scratch v16
#define result v24


func silu_f32_rvv, v
    beqz left, .Ldone
    exp_gate_constants taken
.Lstep:
    vsetvli taken, left, e32, m8, ta, ma
    vle32.v gates, (src)
    slli bytes, taken, 2
    sub left, left, taken
    exp_of_gate result, gates, whole, scratch
    vle32.v gates, (src)
    add src, src, bytes
    vfdiv.vv result, gates, result
    vse32.v result, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
