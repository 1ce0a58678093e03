/* void relu2_mul_f32_rvv(float *y, const float *gate, const float *up, size_t n)
 *
 * a0 y (may be gate or up), a1 gate, a2 up, a3 n. Clobbers a0-a3, t0-t1, ft0, v0, v8-v23.
 * 14 instructions per 8 registers. A comparison keeps NaNs, which vfmax ignores. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define gate a1
#define up_at a2
#define left a3
#define taken t0
#define bytes t1
#define none ft0

#define negative v0
#define values v8
#define ups v16


func relu2_mul_f32_rvv, v
    beqz left, .Ldone
    fmv.w.x none, zero
.Lstep:
    vsetvli taken, left, e32, m8, ta, ma
    vle32.v values, (gate)
    vle32.v ups, (up_at)
    slli bytes, taken, 2
    sub left, left, taken
    vmflt.vf negative, values, none
    add gate, gate, bytes
    vfmerge.vfm values, values, none, negative
    add up_at, up_at, bytes
    vfmul.vv values, values, values
    vfmul.vv values, values, ups
    vse32.v values, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
