/* void quantize_q8_f32_rvv(struct block_q8 *restrict y, const float *restrict x, size_t n)
 *
 * a0 y, a1 x, a2 n (a multiple of 32). Clobbers a0-a1, t0-t4, ft0-ft5, v0-v25.
 *
 * A block is one group of 8 registers. After the addition of 1.5 * 2^23 the low byte of each
 * float is q, so that two narrowing shifts store it. The sum of the 32 words, minus
 * 32 times the constant's bits, is the sum of q. A block takes 24 instructions. */
#include "kernels/riscv64/matrix/quantize_rvv.h"

#define dst a0
#define src a1
#define count a2
#define src_end t0
#define lanes t1
#define tiny t2
#define sum t3
#define temp t4

#define values v0      /* m8 */
#define rounded v8     /* m8; first the magnitudes */
#define halves v16     /* m4 */
#define quants v20     /* m2 */
#define reduced v22
#define zeros v24      /* start value of the maximum: 0 */
#define sum_start v25  /* start value of the sum: -32 * the bits of magic */

func quantize_q8_f32_rvv, v
    slli src_end, count, 2
    add src_end, src_end, src
    quantize_constants temp
    li lanes, 32
    li temp, -32 * F32_MAGIC
    vsetvli zero, lanes, e32, m8, ta, ma
    vmv.s.x zeros, zero
    vmv.s.x sum_start, temp
    beq src, src_end, .Ldone
.Lblock:
    vsetvli zero, lanes, e32, m8, ta, ma
    vle32.v values, (src)
    addi src, src, 128
    vfabs.v rounded, values
    vfredmax.vs reduced, rounded, zeros
    invert_largest reduced, tiny
    vfmul.vf rounded, values, inverse
    fdiv.s scale, largest, limit
    vfadd.vf rounded, rounded, magic
    vredsum.vs reduced, rounded, sum_start
    vmv.x.s sum, reduced
    vsetvli zero, lanes, e16, m4, ta, ma
    vnsrl.wi halves, rounded, 0
    vsetvli zero, lanes, e8, m2, ta, ma
    vnsrl.wi quants, halves, 0
    vse8.v quants, (dst)
    fsw scale, Q8_SCALE(dst)
    sw sum, Q8_SUM(dst)
    addi dst, dst, Q8_BYTES
    bne src, src_end, .Lblock
.Ldone:
    ret
endfunc
