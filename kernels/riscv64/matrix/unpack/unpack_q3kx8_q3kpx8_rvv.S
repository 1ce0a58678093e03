/* void unpack_q3kx8_q3kpx8_rvv(void *restrict y, const void *restrict w, size_t n)
 *
 * a0 y, a1 w, a2 blocks left. Clobbers a0-a2, t0-t5, v2-v17, v24-v31.
 *
 * Makes four vectors of 32 scales: low and then high nibbles of two vectors, with bits of a third. A block takes 67
 * instructions. */
#define six_bits t3
#define least t4
#define vector t5      /* 32 */

/* m2 each, 32 bytes */
#define low0 v2
#define low1 v4
#define high v6
#define scales0 v8
#define scales1 v10
#define scales2 v12
#define scales3 v14
#define shifted v16

#include "kernels/riscv64/matrix/unpack/unpack_rvv.h"

func unpack_q3kx8_q3kpx8_rvv, v
    beqz blocks_left, .Ldone
    li run, 128
    li vector, 32
    li six_bits, 0x30
    li least, -32
.Lblock:
    copy_scales
    vsetvli zero, vector, e8, m2, ta, ma
    vle8.v low0, (weights)
    addi weights, weights, 32
    vle8.v low1, (weights)
    addi weights, weights, 32
    vle8.v high, (weights)
    addi weights, weights, 32
    vand.vi scales0, low0, 15
    vand.vi scales1, low1, 15
    vsrl.vi scales2, low0, 4
    vsrl.vi scales3, low1, 4
    join scales0, high, vsll.vi shifted, high, 4
    join scales1, high, vsll.vi shifted, high, 2
    join scales2, high
    join scales3, high, vsrl.vi shifted, high, 2
    .irp scales, scales0, scales1, scales2, scales3
    vse8.v \scales, (out)
    addi out, out, 32
    .endr
    copy_bytes (Q3K_BYTES - Q3K_LOW)
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
