/* void convert_f32_f16_rvv_zvfh(float *restrict y, const uint16_t *restrict x, size_t n)
 *
 * a0 y, a1 x, a2 n. Clobbers a0-a2, t0-t1, v0-v3, v8-v15. 10 instructions per 8 registers. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define src a1
#define left a2
#define taken t0
#define bytes t1

#define halves v0      /* m4 */
#define values v8      /* m8 */

func convert_f32_f16_rvv_zvfh, v
    beqz left, .Ldone
.Lstep:
    vsetvli taken, left, e16, m4, ta, ma
    vle16.v halves, (src)
    slli bytes, taken, 1
    sub left, left, taken
    vfwcvt.f.f.v values, halves
    add src, src, bytes
    vse32.v values, (dst)
    add dst, dst, bytes                /* added twice: a float has 4 bytes */
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
