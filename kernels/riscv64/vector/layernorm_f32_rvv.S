/* void layernorm_f32_rvv(float *y, const float *x, const float *restrict w,
 *                        const float *restrict b, size_t n, float eps)
 *
 * a0 y (may be x), a1 x, a2 w, a3 b, a4 n >= 1, fa0 eps. Clobbers a0-a7, t0-t2, ft0-ft2, v0-v31.
 *
 * Computes the sum, then the sum of squares about the mean, both in 16 lanes: 4 and 5 instructions
 * for 16 elements. Then computes y in groups of 8 registers, at 16 instructions each. */
#include "kernels/riscv64/vector/vector_rvv.h"

#define dst a0
#define src a1
#define weights a2
#define biases a3
#define count a4
#define position a5
#define left a6
#define src_end a7
#define vtype_16 t0
#define temp t1
#define bytes t2
#define eps fa0
#define mean ft0
#define scale ft1
#define length ft2

#define squares v0
#define values v8
#define gains v16
#define results v24

func layernorm_f32_rvv, v
    mv position, src
    mv left, count
    sum_16_lanes mean, position, left, src_end, vtype_16, temp
    fcvt.s.lu length, count
    fdiv.s mean, mean, length

    vmv.v.i squares, 0
    mv position, src
    andi left, count, 15
    beq position, src_end, .Ltail
.Lsquares:
    vle32.v values, (position)
    addi position, position, 64
    vfsub.vf values, values, mean
    vfmacc.vv squares, values, values
    bne position, src_end, .Lsquares
.Ltail:
    beqz left, .Lfold
    vsetvl zero, left, vtype_16
    vle32.v values, (position)
    vfsub.vf values, values, mean
    vfmacc.vv squares, values, values
    li temp, 16
    vsetvl zero, temp, vtype_16
.Lfold:
    fold_16_lanes scale, squares, values
    fdiv.s scale, scale, length
    fadd.s scale, scale, eps
    fsqrt.s scale, scale
    load_float length, F32_ONE, temp
    fdiv.s scale, length, scale
.Lscale:
    vsetvli temp, count, e32, m8, ta, ma
    vle32.v values, (src)
    vle32.v gains, (weights)
    vle32.v results, (biases)
    vfsub.vf values, values, mean
    slli bytes, temp, 2
    sub count, count, temp
    add src, src, bytes
    vfmul.vf values, values, scale
    add weights, weights, bytes
    add biases, biases, bytes
    vfmacc.vv results, values, gains
    vse32.v results, (dst)
    add dst, dst, bytes
    bnez count, .Lscale
    ret
endfunc
