/* void add_f32_rvv(float *restrict y, const float *restrict x, size_t n)
 *
 * a0 y, a1 x, a2 n. Clobbers a0-a2, t0-t1, v0-v15. 10 instructions per 8 registers. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define src a1
#define left a2
#define taken t0
#define bytes t1

#define total v0
#define addend v8

func add_f32_rvv, v
    beqz left, .Ldone
.Ladd:
    vsetvli taken, left, e32, m8, ta, ma
    vle32.v total, (dst)
    vle32.v addend, (src)
    slli bytes, taken, 2
    sub left, left, taken
    vfadd.vv total, total, addend
    add src, src, bytes
    vse32.v total, (dst)
    add dst, dst, bytes
    bnez left, .Ladd
.Ldone:
    ret
endfunc
