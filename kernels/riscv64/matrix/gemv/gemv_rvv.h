/* Shared by the quantized RVV gemvs. A lane is a row and one of four columns;
 * the activations of the four columns are one word of x. A kernel that includes
 * this defines cols, act, act_start, act_end, row_bytes, scale_up and temp. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_RVV_H

#include "kernels/riscv64/asm.h"
#include "kernels/riscv64/matrix/gemv/prefetch.h"

/* Broadcast word \word of x to all lanes of \reg. */
.macro broadcast reg, word
    lw temp, 4*(\word)(act)
    vmv.v.x \reg, temp
.endm

/* act_end = the end of x, row_bytes = the size of a group in bytes. */
.macro measure_rows cols_log2, act_bytes, block_bytes
    srli temp, cols, \cols_log2        /* blocks of a row */
    li act_end, \act_bytes
    mul act_end, act_end, temp
    add act_end, act_end, act_start
    li row_bytes, \block_bytes
    mul row_bytes, row_bytes, temp
    load_float scale_up, F32_2P112, temp
.endm

/* Store the offsets of the scales of a set of groups, relative to the first group, at sp: \parts
 * offsets, each of four scales. */
.macro find_scales parts
    vsetivli zero, \parts, e32, m2, ta, ma
    vid.v v0
    vand.vi v2, v0, 1
    vsrl.vi v0, v0, 1
    vsll.vi v2, v2, 3
    vmul.vx v0, v0, row_bytes
    vadd.vv v0, v0, v2
    vse32.v v0, (sp)
.endm

#endif
