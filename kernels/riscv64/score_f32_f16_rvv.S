/* void score_f32_f16_rvv(float *restrict y, const float *restrict q, const uint16_t *restrict k,
 *                        size_t n, size_t d, float scale)
 *
 * a0 y, a1 q, a2 k, a3 n, a4 d, fa0 scale. Clobbers a0, a2-a7, t0-t4, ft0-ft1, v0-v23.
 *
 * One key at a time in 16 lanes, a tail into its lanes only: 13 instructions for 16 elements and
 * 18 for a key. fp16 is widened without Zvfh, which the first RVV boards lack. */
#include "kernels/riscv64/vector.h"

#define dst a0
#define query_start a1
#define key a2
#define keys_left a3
#define query_end a4   /* of the whole steps */
#define query a5
#define tail a6
#define exponent a7
#define vtype_16 t0
#define temp t1
#define sign_bits t2
#define largest t3
#define sixteen t4
#define factor fa0
#define scale_up ft0
#define dot ft1

#define sums v4
#define query_lanes v8
#define key_lanes v12  /* fp16, half of the group */
#define scratch v16
#define wide v20

.macro step
    vle32.v query_lanes, (query)
    vle16.v key_lanes, (key)
    widen_f16 wide, key_lanes, scratch, scale_up, sign_bits, largest, exponent
    vfmacc.vv sums, query_lanes, wide
.endm

func score_f32_f16_rvv, v
    widen_f16_constants scale_up, sign_bits, largest, exponent, temp
    set_16_lanes vtype_16, temp
    li sixteen, 16
    andi tail, a4, 15
    sub query_end, a4, tail
    slli query_end, query_end, 2
    add query_end, query_end, query_start
    beqz keys_left, .Ldone
.Lkey:
    vmv.v.i sums, 0
    mv query, query_start
    beq query, query_end, .Ltail
.Lstep:
    step
    addi query, query, 64
    addi key, key, 32
    bne query, query_end, .Lstep
.Ltail:
    beqz tail, .Lfold
    vsetvl zero, tail, vtype_16
    step
    slli temp, tail, 1
    add key, key, temp
    vsetvl zero, sixteen, vtype_16
.Lfold:
    fold_16_lanes dot, sums, scratch
    fmul.s dot, dot, factor
    addi keys_left, keys_left, -1
    fsw dot, 0(dst)
    addi dst, dst, 4
    bnez keys_left, .Lkey
.Ldone:
    ret
endfunc
