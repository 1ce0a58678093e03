/* void unpack_t4x8_mx4px8_rvv(void *restrict y, const void *restrict w, size_t n)
 *
 * a0 y, a1 w, a2 blocks left. Clobbers a0-a2, t0, t1, t3, v0-v5, v24-v31.
 *
 * 2^(e - 25) as fp16 is (e - 10) << 10 from e = 11 on. Below that it is subnormal: 1 << e >> 1, which is 0
 * for e = 0. If e is limited to 11 in the second formula, the larger of the two values is always the right one. A block
 * takes 20 instructions. */
#include "kernels/riscv64/matrix/unpack/unpack_rvv.h"

#define normal_from t3 /* 11 */

#define bytes v0
#define exponents v1
#define ones v2
#define subnormal v3
#define normal v4

func unpack_t4x8_mx4px8_rvv, v
    beqz blocks_left, .Ldone
    li run, 128
    li normal_from, 11
    vsetivli zero, 8, e16, m1, ta, ma
    vmv.v.i ones, 1
.Lblock:
    vsetivli zero, 8, e8, mf2, ta, ma
    vle8.v bytes, (weights)
    addi weights, weights, 8
    vsetivli zero, 8, e16, m1, ta, ma
    vzext.vf2 exponents, bytes
    vminu.vx subnormal, exponents, normal_from
    vadd.vi normal, exponents, -10
    vsll.vv subnormal, ones, subnormal
    vsll.vi normal, normal, 10
    vsrl.vi subnormal, subnormal, 1
    vmax.vv normal, normal, subnormal
    vse16.v normal, (out)
    addi out, out, 16
    copy_bytes 128
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
