/* void mul_f32_rvv(float *y, const float *a, const float *b, size_t n)
 *
 * a0 y (may be a or b), a1 a, a2 b, a3 n. Clobbers a0-a3,
 * t0-t1, v0-v15. 11 instructions per 8 registers. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define first a1
#define second a2
#define left a3
#define taken t0
#define bytes t1

#define product v0
#define factor v8


func mul_f32_rvv, v
    beqz left, .Ldone
.Lstep:
    vsetvli taken, left, e32, m8, ta, ma
    vle32.v product, (first)
    vle32.v factor, (second)
    slli bytes, taken, 2
    sub left, left, taken
    vfmul.vv product, product, factor
    add first, first, bytes
    add second, second, bytes
    vse32.v product, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
