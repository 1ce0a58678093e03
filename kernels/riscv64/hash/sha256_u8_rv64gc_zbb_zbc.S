/* void sha256_u8_rv64gc_zbb_zbc(uint32_t *h, const void *blocks, size_t n)
 *
 * a0 h, a1 blocks, a2 n. Clobbers a0-a7, t0-t6. 192 bytes of stack.
 *
 * A carry-less multiplication by powers of two is a sum of shifts: clmulh of x << 32 and 2^(64 - n) + 2^(32 - n)
 * is x rotated by n, and with 2^(32 - n) it is x shifted. So one constant computes all three terms of a
 * sigma. */
#include "kernels/riscv64/hash/sha256_rv64gc.h"

#define ROTATED(n) ((1 << (64 - (n))) + (1 << (32 - (n))))
#define SHIFTED(n) (1 << (32 - (n)))

.macro load_pair first, second, at
    ld      temp, \at(blocks)
    rev8    \second, temp
    srli    \first, \second, 32
.endm

.macro load_masks
.endm

.macro big_sigma out, x, constant
    slli    high, \x, 32
    clmulh  \out, high, \constant
.endm

.macro small_begin x
    slli    high, \x, 32
.endm

.macro small_first
    clmulh  temp, high, constant2
.endm

.macro small_first_only
    small_first
.endm

.macro small_second
    clmulh  temp, high, constant3
.endm

.macro load_constants
    li      constant0, ROTATED(2) + ROTATED(13) + ROTATED(22)
    li      constant1, ROTATED(6) + ROTATED(11) + ROTATED(25)
    li      constant2, ROTATED(7) + ROTATED(18) + SHIFTED(3)
.endm

.macro load_constant3
    li      constant3, ROTATED(17) + ROTATED(19) + SHIFTED(10)
.endm

func sha256_u8_rv64gc_zbb_zbc, zbb, zbc
    sha256_blocks
endfunc
