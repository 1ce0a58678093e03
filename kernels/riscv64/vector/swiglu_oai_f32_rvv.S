/* void swiglu_oai_f32_rvv(float *y, const float *gate, const float *up, size_t n, float limit,
 *                         float alpha)
 *
 * a0 y (may be gate or up), a1 gate, a2 up, a3 n, fa0 limit, fa1 alpha. Clobbers a0-a3, t0-t1,
 * ft0-ft7, fa2-fa7, v0-v31. 45 instructions per 8 registers. Comparisons keep NaNs, which vfmin
 * ignores; the gate is read and clamped again for the division, because exp needs all registers. */
#include "kernels/riscv64/vector/exp_rvv.h"

#define dst a0
#define gate a1
#define up_at a2
#define left a3
#define taken t0
#define bytes t1
#define limit fa0
#define alpha fa1
#define lower fa2

#define outside v0
#define whole v0       /* m8 each */
#define gates v8
#define scratch v16
#define ups v16
#define result v24


func swiglu_oai_f32_rvv, v
    beqz left, .Ldone
    exp_gate_constants taken
    fneg.s lower, limit
.Lstep:
    vsetvli taken, left, e32, m8, ta, ma
    vle32.v gates, (gate)
    slli bytes, taken, 2
    sub left, left, taken
    vmfgt.vf outside, gates, limit
    vfmerge.vfm gates, gates, limit, outside
    vfmul.vf gates, gates, alpha
    exp_of_gate result, gates, whole, scratch
    vle32.v gates, (gate)
    vle32.v ups, (up_at)
    vmfgt.vf outside, gates, limit
    vfmerge.vfm gates, gates, limit, outside
    vfdiv.vv result, gates, result
    vmfgt.vf outside, ups, limit
    vfmerge.vfm ups, ups, limit, outside
    vmflt.vf outside, ups, lower
    vfmerge.vfm ups, ups, lower, outside
    vfadd.vf ups, ups, exp_one
    add gate, gate, bytes
    add up_at, up_at, bytes
    vfmul.vv result, result, ups
    vse32.v result, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
