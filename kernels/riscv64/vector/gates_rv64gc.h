/* Products with a sigmoid, without vectors: y = over / (1 + exp(-gate)), or that quotient times
 * another vector. Takes four elements side by side, then the remaining ones one by
 * one. The numerator is read again after exp, because exp needs all registers. An element takes 24
 * instructions, 3 more with the product, and 1 more if gate and numerator differ.
 *
 * Clobbers a0 (y) and all pointers, a5, t0-t6, ft0-ft11, fa0-fa3, fa7; saves fs0-fs11 on the stack. */
#ifndef INGOT_KERNELS_RISCV64_GATES_RV64GC_H
#define INGOT_KERNELS_RISCV64_GATES_RV64GC_H

#include "kernels/riscv64/vector/exp_rv64gc.h"

#define dst a0
#define temp a5

.macro load_four float, at
    .irp n, 0, 1, 2, 3
    flw \float\()\n, 4*\n(\at)
    .endr
.endm

.macro move_on bytes, gate, over, times
    addi dst, dst, \bytes
    addi \gate, \gate, \bytes
    .ifnc \gate, \over
    addi \over, \over, \bytes
    .endif
    .ifnb \times
    addi \times, \times, \bytes
    .endif
.endm

/* The whole body of a kernel, between func and endfunc. Arguments that are the same pointer have
 * the same name. */
.macro gates left, gate, over, times
    exp_begin gates, temp
    li temp, 4
    bltu \left, temp, .Lones
.Lfour:
    load_four fa, \gate
    exp_of_gates
    load_four fa, \over
    .irp n, 0, 1, 2, 3
    fdiv.s fs\n, fa\n, fs\n
    .endr
    .ifnb \times
    load_four ft, \times
    .irp n, 0, 1, 2, 3
    fmul.s fs\n, fs\n, ft\n
    .endr
    .endif
    .irp n, 0, 1, 2, 3
    fsw fs\n, 4*\n(dst)
    .endr
    move_on 16, \gate, \over, \times
    addi \left, \left, -4
    bgeu \left, temp, .Lfour
.Lones:
    beqz \left, .Ldone
    flw fa0, 0(\gate)
    fmv.s fa1, fa0
    fmv.s fa2, fa0
    fmv.s fa3, fa0
    exp_of_gates
    flw fa0, 0(\over)
    fdiv.s fs0, fa0, fs0
    .ifnb \times
    flw ft0, 0(\times)
    fmul.s fs0, fs0, ft0
    .endif
    fsw fs0, 0(dst)
    move_on 4, \gate, \over, \times
    addi \left, \left, -1
    j .Lones
.Ldone:
    exp_end
    ret
.endm

#endif
