/* void score_f32_f16_rv64gc(float *restrict y, const float *restrict q,
 *                           const uint16_t *restrict k, size_t n, size_t d, float scale)
 *
 * a0 y, a1 q, a2 k, a3 n, a4 d, fa0 scale. Clobbers a0, a2-a7, t0-t6, ft0-ft11, fa0-fa7; keeps
 * fs0-fs5 on the stack.
 *
 * One key at a time with its 16 lanes in registers, four elements side by side: 9 instructions
 * an element. A tail of d goes through lanes in memory. */
#include "kernels/riscv64/lanes_rv64gc.h"

#define dst a0
#define query_start a1
#define key a2
#define keys_left a3
#define tail_end a4    /* first the argument d */
#define query a5
#define query_end a6   /* of the whole steps */
#define lane_at a7
#define bits0 t0
#define bits1 t1
#define bits2 t2
#define bits3 t3
#define temp t4
#define scale fs5

.macro four_lanes first, lane0, lane1, lane2, lane3
    lh bits0, 2*\first(key)
    lh bits1, 2*\first + 2(key)
    lh bits2, 2*\first + 4(key)
    lh bits3, 2*\first + 6(key)
    shift_f16 \first\()0, bits0, temp
    shift_f16 \first\()1, bits1, temp
    shift_f16 \first\()2, bits2, temp
    shift_f16 \first\()3, bits3, temp
    fmv.w.x ft8, bits0
    fmv.w.x ft9, bits1
    fmv.w.x ft10, bits2
    fmv.w.x ft11, bits3
    flw fs0, 4*\first(query)
    flw fs1, 4*\first + 4(query)
    flw fs2, 4*\first + 8(query)
    flw fs3, 4*\first + 12(query)
    fmul.s ft8, ft8, scale_up
    fmul.s ft9, ft9, scale_up
    fmul.s ft10, ft10, scale_up
    fmul.s ft11, ft11, scale_up
    fmadd.s \lane0, fs0, ft8, \lane0
    fmadd.s \lane1, fs1, ft9, \lane1
    fmadd.s \lane2, fs2, ft10, \lane2
    fmadd.s \lane3, fs3, ft11, \lane3
.endm

func score_f32_f16_rv64gc
    save_floats
    fmv.s scale, fa0
    widen_constants temp
    andi query_end, tail_end, -16
    slli query_end, query_end, 2
    slli tail_end, tail_end, 2
    add query_end, query_end, query_start
    add tail_end, tail_end, query_start
    beqz keys_left, .Ldone
.Lkey:
    clear_lanes
    mv query, query_start
    beq query, query_end, .Ltail
.Lstep:
    four_lanes 0, fa0, fa1, fa2, fa3
    four_lanes 4, fa4, fa5, fa6, fa7
    four_lanes 8, ft0, ft1, ft2, ft3
    four_lanes 12, ft4, ft5, ft6, ft7
    addi key, key, 32
    addi query, query, 64
    bne query, query_end, .Lstep
.Ltail:
    beq query, tail_end, .Lfold
    lanes_to_memory
    mv lane_at, sp
.Ltail_element:
    lh bits0, 0(key)
    flw fs0, 0(query)
    flw fs1, 0(lane_at)
    shift_f16 tail, bits0, temp
    fmv.w.x ft8, bits0
    fmul.s ft8, ft8, scale_up
    addi key, key, 2
    addi query, query, 4
    fmadd.s fs1, fs0, ft8, fs1
    fsw fs1, 0(lane_at)
    addi lane_at, lane_at, 4
    bne query, tail_end, .Ltail_element
    lanes_from_memory
.Lfold:
    fold_lanes
    fmul.s fa0, fa0, scale
    addi keys_left, keys_left, -1
    fsw fa0, 0(dst)
    addi dst, dst, 4
    bnez keys_left, .Lkey
.Ldone:
    restore_floats
    ret

    .irp first, 0, 4, 8, 12
    not_finite \first\()0, bits0, temp
    not_finite \first\()1, bits1, temp
    not_finite \first\()2, bits2, temp
    not_finite \first\()3, bits3, temp
    .endr
    not_finite tail, bits0, temp
endfunc
