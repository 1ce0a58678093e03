/* void relu2_f32_rvv(float *y, const float *x, size_t n)
 *
 * a0 y (may be x), a1 x, a2 n. Clobbers a0-a2, t0-t1, ft0, v0, v8-v15.
 * 11 instructions per 8 registers. A comparison keeps NaNs, which vfmax ignores. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define src a1
#define left a2
#define taken t0
#define bytes t1
#define none ft0

#define negative v0
#define values v8


func relu2_f32_rvv, v
    beqz left, .Ldone
    fmv.w.x none, zero
.Lstep:
    vsetvli taken, left, e32, m8, ta, ma
    vle32.v values, (src)
    slli bytes, taken, 2
    sub left, left, taken
    vmflt.vf negative, values, none
    add src, src, bytes
    vfmerge.vfm values, values, none, negative
    vfmul.vv values, values, values
    vse32.v values, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
