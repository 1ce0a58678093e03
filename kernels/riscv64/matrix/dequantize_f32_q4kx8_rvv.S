/* void dequantize_f32_q4kx8_rvv(float *restrict y, const void *restrict w, size_t row, size_t cols)
 *
 * a0 y, a1 w, a2 row, a3 cols. Clobbers a0-a7, t0-t6, ft0-ft4, v0-v23.
 *
 * A strided load gathers the row's 8 words of 64 columns: 32 columns in the low nibbles, then 32 in
 * the high nibbles. 32 columns take 32 instructions. */

#define dst a0
#define group a1       /* a block of the row */
#define row a2
#define blocks_left a3
#define words_at a4
#define scales_at a5
#define mins_at a6
#define part a7        /* of 64 columns */
#define stride t0
#define sign_bits t1
#define lanes t2
#define temp t3
#define temp_1 t4
#define min t5
#define next_min t6
#define scale ft0
#define dmin ft1
#define scale_up ft2   /* 2^112 */
#define offset ft3     /* dmin * min of a sub-block, negated */

#define packed v0      /* m2 */
#define nibbles v2     /* m2 */
#define products v4    /* m4, int16 */
#define floats v8      /* m8 */
#define values v16     /* m8 */

#include "kernels/riscv64/matrix/dequantize_rvv.h"

/* Store 32 columns; \upper has the upper 4 bits of the sub-block's min. */
.macro sub_block quants, upper
    andi min, \upper, 15
    slli min, min, 2
    lbu temp, 0(scales_at)
    addi scales_at, scales_at, 8
    srli temp_1, temp, 6
    andi temp, temp, 63
    or min, min, temp_1
    fcvt.s.w offset, min
    fmul.s offset, offset, dmin
    fneg.s offset, offset
    vsetvli zero, lanes, e8, m2, ta, ma
    vwmulu.vx products, \quants, temp
    vsetvli zero, zero, e16, m4, ta, ma
    vfwcvt.f.x.v floats, products
    vsetvli zero, zero, e32, m8, ta, ma
    vfmv.v.f values, offset
    vfmacc.vf values, scale, floats
    vse32.v values, (dst)
    addi dst, dst, 128
.endm

func dequantize_f32_q4kx8_rvv, v
    find_row group, row, blocks_left, COLS_K_LOG2, Q4K_BYTES, temp, temp_1, .Ldone
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    li lanes, 32
    li stride, ROW_STRIDE
.Lblock:
    slli temp_1, row, 1
    add temp_1, temp_1, group
    load_scale scale, temp_1, 0, temp
    load_scale dmin, temp_1, K_DMIN, temp
    add scales_at, group, row
    addi mins_at, scales_at, K45_MINS
    addi scales_at, scales_at, K45_SCALES
    slli words_at, row, 2
    add words_at, words_at, group
    addi words_at, words_at, K45_QUANTS
    li part, 0
.Lpart:
    vsetivli zero, 8, e32, m2, ta, ma
    vlse32.v packed, (words_at), stride
    vsetvli zero, lanes, e8, m2, ta, ma
    vand.vi nibbles, packed, 15
    vsrl.vi packed, packed, 4
    andi temp, part, 1                 /* parts 0 and 2 share rows of mins, and so do 1 and 3 */
    slli temp, temp, 4
    add temp, temp, mins_at
    lbu min, 0(temp)
    lbu next_min, 8(temp)
    srli temp, part, 1                 /* parts 2 and 3 use high nibbles */
    slli temp, temp, 2
    srl min, min, temp
    srl next_min, next_min, temp
    sub_block nibbles, min
    sub_block packed, next_min
    addi words_at, words_at, 256
    addi part, part, 1
    li temp, 4
    bne part, temp, .Lpart
    addi group, group, Q4K_BYTES
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
