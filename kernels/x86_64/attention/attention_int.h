// Attention by integers with AVX2, for 16 lanes and up to four rows at a time. A lane
// is a position of keys or a dimension of values. A group has four numbers of each lane.
// Eight groups are multiplied by a block_q8 of each row, so a sum has 32 products of int8.
//
// Four bits: the numbers become 0 to 15, because vpmaddubsw needs unsigned bytes. A group has two
// bytes of each lane; their low nibbles are the first two numbers. A sum has 16 bits and starts at
// -8 times the sum of the block. It may wrap meanwhile, but its final value is at most 32 * 8 * 127.
// A group takes 5 instructions for all rows and 6 more for each row.
//
// Eight bits: the sign of the value moves to the weight, so that no pair exceeds 2 * 127 * 127. A
// group takes 4 instructions for all rows and 9 more for each row.
#ifndef INGOT_KERNELS_X86_64_ATTENTION_INT_H
#define INGOT_KERNELS_X86_64_ATTENTION_INT_H

#include "kernels/x86_64/attention/attention.h"

// The caller defines low_halves: 32 bytes of 0x0f.
#define group rax           /* group of the current lanes */
#define group_stride r10
#define block r11           /* blocks of the first row; the rows are `stride` bytes apart */
#define signs ymm15         /* 0x88 */
#define ones ymm15          /* words of 1 */

// Four bits: ymm0-ymm3 are sums of words, ymm12-ymm14 a group and products.
.macro begin_sum_q4 a
    at_row  <vpbroadcastw ymm12, word ptr>, \a, block, Q8_SUM
    vpxor   xmm\a, xmm\a, xmm\a
    vpsllw  ymm12, ymm12, 3
    vpsubw  ymm\a, ymm\a, ymm12
.endm

.macro multiply_group_q4 a, number
    at_row  <vpbroadcastw ymm14, word ptr>, \a, block, (4 * \number)
    vpmaddubsw ymm14, ymm12, ymm14
    vpaddw  ymm\a, ymm\a, ymm14
    at_row  <vpbroadcastw ymm14, word ptr>, \a, block, (4 * \number + 2)
    vpmaddubsw ymm14, ymm13, ymm14
    vpaddw  ymm\a, ymm\a, ymm14
.endm

.macro sum_groups_q4 n_q
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    begin_sum_q4 \a
    .endif
    .endr
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7
    vpxor   ymm12, signs, [group]
    add     group, group_stride
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, low_halves
    vpand   ymm13, ymm13, low_halves
    .irp    a, 0, 1, 2, 3
    .if \a < \n_q
    multiply_group_q4 \a, \number
    .endif
    .endr
    .endr
.endm

// ymm low, high = the sums of a row as floats; low must not be one of the sums. Destroys ymm a.
.macro float_sums_q4 a, low, high
    vpmovsxwd ymm\low, xmm\a
    vextracti128 xmm\a, ymm\a, 1
    vpmovsxwd ymm\high, xmm\a
    vcvtdq2ps ymm\low, ymm\low
    vcvtdq2ps ymm\high, ymm\high
.endm

// Eight bits: ymm0-ymm7 are sums, ymm8-ymm13 a group and products.
.macro clear_sums_q8 a, low, high
    vpxor   xmm\low, xmm\low, xmm\low
    vpxor   xmm\high, xmm\high, xmm\high
.endm

.macro multiply_lanes_q8 value, size, sum
    vpsignb ymm13, ymm12, ymm\value
    vpmaddubsw ymm13, ymm\size, ymm13
    vpmaddwd ymm13, ymm13, ones
    vpaddd  ymm\sum, ymm\sum, ymm13
.endm

.macro multiply_group_q8 a, number, low, high
    at_row  <vpbroadcastd ymm12, dword ptr>, \a, block, (4 * \number)
    multiply_lanes_q8 8, 10, \low
    multiply_lanes_q8 9, 11, \high
.endm

.macro sum_groups_q8 n_q
    for_pairs \n_q, 0, clear_sums_q8
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7
    vmovdqu ymm8, [group]
    vmovdqu ymm9, [group + 32]
    add     group, group_stride
    vpabsb  ymm10, ymm8
    vpabsb  ymm11, ymm9
    for_pairs \n_q, 0, multiply_group_q8, \number
    .endr
.endm

#endif
