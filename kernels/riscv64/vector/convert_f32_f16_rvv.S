/* void convert_f32_f16_rvv(float *restrict y, const uint16_t *restrict x, size_t n)
 *
 * a0 y, a1 x, a2 n. Clobbers a0-a3, t0-t2, ft0, v0-v23. 20 instructions per 8 registers. */
#include "kernels/riscv64/vector/f16_rvv.h"

#define dst a0
#define src a1
#define left a2
#define bytes a3
#define taken t0
#define temp t1

func convert_f32_f16_rvv, v
    widen_start temp
    beqz left, .Ldone
.Lstep:
    vsetvli taken, left, e32, m8, ta, mu
    widen_any_halves src, temp
    slli bytes, taken, 1
    sub left, left, taken
    add src, src, bytes
    vse32.v slow_wide, (dst)
    add dst, dst, bytes                /* added twice: a float has 4 bytes */
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
