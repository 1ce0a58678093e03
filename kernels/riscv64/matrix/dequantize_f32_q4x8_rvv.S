/* void dequantize_f32_q4x8_rvv(float *restrict y, const void *restrict w, size_t row, size_t cols)
 *
 * a0 y, a1 w, a2 row, a3 cols. Clobbers a0-a5, t0-t2, ft0-ft1, v0-v15.
 *
 * A strided load gathers the row's 4 words of a block: 4 columns each in the low nibbles, 4 in
 * the high nibbles. 32 columns take 27 instructions. */

#define dst a0
#define words_at a1    /* the row's first word of a block */
#define row a2
#define blocks_left a3
#define scale_at a4    /* the row's scale in the block */
#define temp a5
#define stride t0
#define sign_bits t1
#define bits t2
#define scale ft0
#define scale_up ft1   /* 2^112 */

#define packed v0
#define high v1
#define low v2
#define low_values v8  /* m4 */
#define high_values v12

#include "kernels/riscv64/matrix/dequantize_rvv.h"

func dequantize_f32_q4x8_rvv, v
    find_row words_at, row, blocks_left, COLS_LOG2, Q4X8_BYTES, temp, bits, .Ldone
    slli temp, row, 1
    add scale_at, words_at, temp
    slli temp, row, 2
    add words_at, words_at, temp
    addi words_at, words_at, QUANTS
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    li stride, ROW_STRIDE
.Lblock:
    vsetivli zero, 4, e32, m1, ta, ma
    vlse32.v packed, (words_at), stride
    load_scale scale, scale_at, 0, bits
    vsetivli zero, 16, e8, m1, ta, ma
    vand.vi low, packed, 15
    vsrl.vi high, packed, 4
    vadd.vi low, low, -8
    vadd.vi high, high, -8
    vsetivli zero, 16, e32, m4, ta, ma
    vsext.vf4 low_values, low
    vsext.vf4 high_values, high
    addi words_at, words_at, Q4X8_BYTES
    vfcvt.f.x.v low_values, low_values
    vfcvt.f.x.v high_values, high_values
    addi scale_at, scale_at, Q4X8_BYTES
    vfmul.vf low_values, low_values, scale
    vfmul.vf high_values, high_values, scale
    vse32.v low_values, (dst)
    addi dst, dst, 64
    vse32.v high_values, (dst)
    addi dst, dst, 64
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
