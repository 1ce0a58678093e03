/* void sha256_u8_rv64gc(uint32_t *h, const void *blocks, size_t n)
 *
 * a0 h, a1 blocks, a2 n. Clobbers a0-a7, t0-t6. 192 bytes of stack.
 *
 * Needs no rotate instruction. A word x repeated twice, D = x * (2^32 + 1), has the rotation by n in its
 * bits from n on, and mulhu of x << 32 by 2^(64 - n) + 2^(32 - n) is D >> n. The first rotation takes these
 * two instructions, each larger one takes one more shift. So three rotations and their sum take six
 * instructions. */
#include "kernels/riscv64/hash/sha256_rv64gc.h"

/* These registers are used while the block is loaded. */
#define bytes_mask constant3          /* 0x00ff00ff00ff00ff */
#define high_mask spare
#define rotate_16 w0                  /* 2^48 + 2^16: multiplier for mulhu with a word */

/* Load two words, big-endian, from `at` of the block. */
.macro load_pair first, second, at
    ld      temp, \at(blocks)
    and     half, temp, bytes_mask
    srli    temp, temp, 8
    slli    half, half, 8
    and     temp, temp, bytes_mask
    or      temp, temp, half
    slli    half, temp, 32
    and     temp, temp, high_mask
    mulhu   \first, half, rotate_16
    mulhu   \second, temp, rotate_16
.endm

.macro load_masks
    li      bytes_mask, 0x00ff00ff
    slli    temp, bytes_mask, 32
    or      bytes_mask, bytes_mask, temp
    li      high_mask, -1
    slli    high_mask, high_mask, 32
    li      rotate_16, 0x1000000010000
.endm

/* rotations 2, 13, 22 with constant0, and 6, 11, 25 with constant1; the bits of the constants say
 * how far to shift after that */
.macro big_sigma out, x, constant
    slli    high, \x, 32
    mulhu   high, high, \constant
.ifc \constant, constant0
    srli    temp, high, 11
    srli    \out, high, 20
.else
    srli    temp, high, 5
    srli    \out, high, 19
.endif
    xor     temp, temp, high
    xor     \out, \out, temp
.endm

.macro small_begin x
    slli    high, \x, 32
    mulhu   half, high, constant2     /* rotated by 7 */
.endm

/* rotations 7, 18 and the shift by 3. */
.macro small_first
    srli    temp, half, 11
    srli    spare, high, 35
    xor     temp, temp, half
    xor     temp, temp, spare
.endm

.macro small_first_only
    srli    temp, half, 11
    srli    high, high, 35
    xor     temp, temp, half
    xor     temp, temp, high
.endm

/* rotations 17, 19 and the shift by 10. */
.macro small_second
    srli    temp, half, 10
    srli    half, half, 12
    srli    high, high, 42
    xor     temp, temp, half
    xor     temp, temp, high
.endm

.macro load_constants
    li      constant0, (1 << 62) + (1 << 30)
    li      constant1, (1 << 58) + (1 << 26)
    li      constant2, (1 << 57) + (1 << 25)
.endm

.macro load_constant3
.endm

func sha256_u8_rv64gc
    sha256_blocks
endfunc
