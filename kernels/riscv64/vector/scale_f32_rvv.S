/* void scale_f32_rvv(float *y, const float *x, size_t n, float factor)
 *
 * a0 y (may be x), a1 x, a2 n, fa0 factor. Clobbers a0-a2,
 * t0-t1, v0-v7. 9 instructions per 8 registers. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define src a1
#define left a2
#define taken t0
#define bytes t1
#define factor fa0

#define values v0

func scale_f32_rvv, v
    beqz left, .Ldone
.Lscale:
    vsetvli taken, left, e32, m8, ta, ma
    vle32.v values, (src)
    slli bytes, taken, 2
    sub left, left, taken
    vfmul.vf values, values, factor
    add src, src, bytes
    vse32.v values, (dst)
    add dst, dst, bytes
    bnez left, .Lscale
.Ldone:
    ret
endfunc
