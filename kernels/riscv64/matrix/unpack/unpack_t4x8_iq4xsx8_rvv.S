/* void unpack_t4x8_iq4xsx8_rvv(void *restrict y, const void *restrict w, size_t n)
 *
 * a0 y, a1 w, a2 blocks left. Clobbers a0-a2, t0, t1, t3-t5, ft0, v0-v6, v8-v19, v24-v31.
 *
 * To become fp16, a scale of -32 to 31 is multiplied as a float by 2^-112; the upper bits of the
 * product are those of the fp16 without its sign. A block takes 134 instructions. */
#define six_bits t3
#define least t4
#define sign_bit t5
#define down ft0       /* 2^-112 */

/* 16 bytes each: scales of two sub-blocks */
#define low0 v0
#define low1 v1
#define high v2
#define scales0 v3
#define scales1 v4
#define scales2 v5
#define scales3 v6
#define shifted v8
#define words v10      /* m2, 16 of 16 bits */
#define floats v12     /* m4 */
#define halves v16     /* m2 */
#define second v18     /* m2 */

#include "kernels/riscv64/matrix/unpack/unpack_rvv.h"

/* Write the fp16 scales and the nibbles of two sub-blocks. */
.macro two_sub_blocks scales
    vsetivli zero, 16, e16, m2, ta, ma
    vsext.vf2 words, \scales
    vfwcvt.f.x.v floats, words
    vand.vx words, words, sign_bit
    vsetvli zero, zero, e32, m4, ta, ma
    vfmul.vf floats, floats, down
    vsetvli zero, zero, e16, m2, ta, ma
    vnsrl.wi halves, floats, 13
    vor.vv halves, halves, words
    vslidedown.vi second, halves, 8
    vsetivli zero, 8, e16, m1, ta, ma
    vse16.v halves, (out)
    addi out, out, 16
    copy_bytes 128
    vsetivli zero, 8, e16, m1, ta, ma
    vse16.v second, (out)
    addi out, out, 16
    copy_bytes 128
.endm

func unpack_t4x8_iq4xsx8_rvv, v
    beqz blocks_left, .Ldone
    li run, 128
    li six_bits, 0x30
    li least, -32
    li sign_bit, -0x8000
    load_float down, F32_2M112, temp
.Lblock:
    addi weights, weights, 16
    vsetivli zero, 16, e8, m1, ta, ma
    vle8.v low0, (weights)
    addi weights, weights, 16
    vle8.v low1, (weights)
    addi weights, weights, 16
    vle8.v high, (weights)
    addi weights, weights, 16
    vand.vi scales0, low0, 15
    vand.vi scales1, low1, 15
    vsrl.vi scales2, low0, 4
    vsrl.vi scales3, low1, 4
    join scales0, high, vsll.vi shifted, high, 4
    join scales1, high, vsll.vi shifted, high, 2
    join scales2, high
    join scales3, high, vsrl.vi shifted, high, 2
    two_sub_blocks scales0
    two_sub_blocks scales1
    two_sub_blocks scales2
    two_sub_blocks scales3
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
