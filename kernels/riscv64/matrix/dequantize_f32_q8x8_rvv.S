/* void dequantize_f32_q8x8_rvv(float *restrict y, const void *restrict w, size_t row, size_t cols)
 *
 * a0 y, a1 w, a2 row, a3 cols. Clobbers a0-a5, t0-t3, ft0-ft1, v0-v15.
 *
 * A strided load gathers the row's 8 words (4 columns
 * each) of a block. 32 columns take 17 instructions. */

#define dst a0
#define words_at a1    /* the row's first word of a block */
#define row a2
#define blocks_left a3
#define scale_at a4    /* the row's scale in the block */
#define temp a5
#define lanes t0
#define stride t1
#define sign_bits t2
#define bits t3
#define scale ft0
#define scale_up ft1   /* 2^112 */

#define packed v0      /* m2 */
#define values v8      /* m8 */

#include "kernels/riscv64/matrix/dequantize_rvv.h"

func dequantize_f32_q8x8_rvv, v
    find_row words_at, row, blocks_left, COLS_LOG2, Q8X8_BYTES, temp, bits, .Ldone
    slli temp, row, 1
    add scale_at, words_at, temp
    slli temp, row, 2
    add words_at, words_at, temp
    addi words_at, words_at, QUANTS
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    li lanes, 32
    li stride, ROW_STRIDE
.Lblock:
    vsetivli zero, 8, e32, m2, ta, ma
    vlse32.v packed, (words_at), stride
    load_scale scale, scale_at, 0, bits
    vsetvli zero, lanes, e32, m8, ta, ma
    vsext.vf4 values, packed
    addi words_at, words_at, Q8X8_BYTES
    vfcvt.f.x.v values, values
    addi scale_at, scale_at, Q8X8_BYTES
    vfmul.vf values, values, scale
    addi blocks_left, blocks_left, -1
    vse32.v values, (dst)
    addi dst, dst, 128
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
