/* void l2norm_f32_rvv(float *y, const float *x, size_t n, float eps)
 *
 * a0 y (may be x), a1 x, a2 n >= 1, fa0 eps. Clobbers a0-a4, t0-t3, ft0-ft1, v0-v15.
 *
 * The sum of squares is in 16 lanes, and a tail is added only to its lanes: 4
 * instructions for 16 elements. The second pass takes 9 instructions per 8 registers. */
#include "kernels/riscv64/vector/vector_rvv.h"

#define dst a0
#define src a1
#define count a2
#define left a3
#define src_end a4
#define vtype_16 t0
#define temp t1
#define bytes t2
#define position t3
#define eps fa0
#define sum ft0
#define one ft1

#define sums v0
#define values v8

func l2norm_f32_rvv, v
    set_16_lanes vtype_16, temp
    vmv.v.i sums, 0
    mv position, src
    andi left, count, 15
    sub temp, count, left
    slli temp, temp, 2
    add src_end, src, temp
    beq position, src_end, .Ltail
.Lsquares:
    vle32.v values, (position)
    addi position, position, 64
    vfmacc.vv sums, values, values
    bne position, src_end, .Lsquares
.Ltail:
    beqz left, .Lfold
    vsetvl zero, left, vtype_16
    vle32.v values, (position)
    vfmacc.vv sums, values, values
    li temp, 16
    vsetvl zero, temp, vtype_16
.Lfold:
    fold_16_lanes sum, sums, values
    fadd.s sum, sum, eps
    fsqrt.s sum, sum
    load_float one, F32_ONE, temp
    fdiv.s sum, one, sum
.Lscale:
    vsetvli temp, count, e32, m8, ta, ma
    vle32.v values, (src)
    slli bytes, temp, 2
    sub count, count, temp
    vfmul.vf values, values, sum
    add src, src, bytes
    vse32.v values, (dst)
    add dst, dst, bytes
    bnez count, .Lscale
    ret
endfunc
