/* void quantize_q8k_f32_rvv(struct block_q8k *restrict y, const float *restrict x, size_t n)
 *
 * a0 y, a1 x, a2 n (a multiple of 256). Clobbers a0-a3, t0-t5, ft0-ft5, v0-v25.
 *
 * One pass finds the largest magnitude; then 16 numbers are taken at a time. After the
 * addition of 1.5 * 2^23 the low byte of each float is q, so that two narrowing shifts store
 * it. The sum of the 16 words, minus 16 times the constant's bits, is the sum of q. */
#include "kernels/riscv64/matrix/quantize_rvv.h"

#define dst a0
#define src a1
#define count a2
#define src_end a2
#define sum_dst a3
#define block_end t0
#define lanes t1
#define tiny t2
#define sum t3
#define temp t4
#define position t5

#define values v0      /* m8 */
#define magnitudes v8  /* m8; then, m4: rounded */
#define maxima v16     /* m8 */
#define halves v16     /* m2 */
#define quants v18
#define reduced v20
#define zeros v24      /* start value of the maximum: 0 */
#define sum_start v25  /* start value of the sums: -16 * the bits of magic */

func quantize_q8k_f32_rvv, v
    slli src_end, count, 2
    add src_end, src_end, src
    quantize_constants temp
    beq src, src_end, .Ldone
.Lblock:
    li lanes, 32                       /* lanes: fits m8 and divides a block */
    addi block_end, src, 1024
    mv position, src
    vsetvli zero, lanes, e32, m8, ta, ma
    vmv.v.i maxima, 0
    vmv.s.x zeros, zero
.Lmaximum:
    vle32.v values, (position)
    addi position, position, 128
    vfabs.v magnitudes, values
    vfmax.vv maxima, maxima, magnitudes
    bne position, block_end, .Lmaximum
    vfredmax.vs reduced, maxima, zeros
    invert_largest reduced, tiny
    fdiv.s scale, largest, limit
    addi sum_dst, dst, Q8K_SUM
    li temp, -16 * F32_MAGIC
    vsetivli zero, 16, e32, m4, ta, ma
    vmv.s.x sum_start, temp
.Lsixteen:
    vsetivli zero, 16, e32, m4, ta, ma
    vle32.v values, (src)
    addi src, src, 64
    vfmul.vf values, values, inverse
    vfadd.vf values, values, magic
    vredsum.vs reduced, values, sum_start
    vmv.x.s sum, reduced
    vsetvli zero, zero, e16, m2, ta, ma
    vnsrl.wi halves, values, 0
    vsetvli zero, zero, e8, m1, ta, ma
    vnsrl.wi quants, halves, 0
    sh sum, 0(sum_dst)
    addi sum_dst, sum_dst, 2
    vse8.v quants, (dst)
    addi dst, dst, 16
    bne src, block_end, .Lsixteen
    fsw scale, Q8K_SCALE - Q8K_SUM(dst)
    sw zero, Q8K_SCALE + 4 - Q8K_SUM(dst)
    sd zero, Q8K_SCALE + 8 - Q8K_SUM(dst)
    addi dst, dst, Q8K_BYTES - Q8K_SUM
    bne src, src_end, .Lblock
.Ldone:
    ret
endfunc
