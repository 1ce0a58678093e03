/* void convert_f16_f32_rvv(uint16_t *restrict y, const float *restrict x, size_t n)
 *
 * a0 y, a1 x, a2 n. Clobbers a0-a7, t0-t4, ft0, v0-v27.
 *
 * Computes all cases of f16_from_f32 in ref/scalar.h, then selects
 * the right ones by masks: 27 instructions for 4 registers. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define src a1
#define left a2
#define taken a3
#define bytes a4
#define magnitude_bits a5
#define rebias a6      /* changes the exponent bias to fp16's, and adds just below half an ulp */
#define infinity a7
#define below_normal t0
#define half_bits t1
#define f32_infinity t2
#define quiet_nan t3
#define sign_bit t4
#define half ft0

#define signs v4       /* m4 each */
#define magnitude v8
#define normal v12
#define subnormal v16
#define halves v24     /* m2 */

func convert_f16_f32_rvv, v
    beqz left, .Ldone
    li magnitude_bits, 0x7fffffff
    li rebias, 0xfff - 0x38000000
    li infinity, 0x7c00
    li below_normal, 0x38800000        /* 2^-14 */
    li half_bits, 0x3f000000
    fmv.w.x half, half_bits
    li f32_infinity, F32_INFINITY
    li quiet_nan, 0x7e00
    li sign_bit, 0x8000
.Lstep:
    vsetvli taken, left, e32, m4, ta, ma
    vle32.v signs, (src)
    slli bytes, taken, 2
    add src, src, bytes
    sub left, left, taken
    vand.vx magnitude, signs, magnitude_bits
    vsrl.vi signs, signs, 16
    vand.vx signs, signs, sign_bit
    vsrl.vi normal, magnitude, 13
    vand.vi normal, normal, 1          /* ties to even */
    vadd.vv normal, normal, magnitude
    vadd.vx normal, normal, rebias
    vsrl.vi normal, normal, 13
    vminu.vx normal, normal, infinity
    vfadd.vf subnormal, magnitude, half /* rounds, and leaves the subnormal in the low bits */
    vsub.vx subnormal, subnormal, half_bits
    vmsltu.vx v0, magnitude, below_normal
    vmerge.vvm normal, normal, subnormal, v0
    vmsgtu.vx v0, magnitude, f32_infinity
    vmerge.vxm normal, normal, quiet_nan, v0
    vor.vv normal, normal, signs
    vsetvli zero, taken, e16, m2, ta, ma
    vnsrl.wi halves, normal, 0
    srli bytes, bytes, 1
    vse16.v halves, (dst)
    add dst, dst, bytes
    bnez left, .Lstep
.Ldone:
    ret
endfunc
