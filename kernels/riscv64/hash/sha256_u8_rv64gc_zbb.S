/* void sha256_u8_rv64gc_zbb(uint32_t *h, const void *blocks, size_t n)
 *
 * a0 h, a1 blocks, a2 n. Clobbers a0-a7, t0-t6. 192 bytes of stack.
 *
 * This kernel is for cores with an instruction that rotates a word, and one that swaps bytes. */
#include "kernels/riscv64/hash/sha256_rv64gc.h"

.macro load_pair first, second, at
    ld      temp, \at(blocks)
    rev8    \second, temp
    srli    \first, \second, 32
.endm

.macro load_masks
.endm

/* rotations 2, 13, 22 with constant0, and 6, 11, 25 with constant1, which are only names here */
.macro big_sigma out, x, constant
.ifc \constant, constant0
    roriw   high, \x, 2
    roriw   temp, \x, 13
    roriw   \out, \x, 22
.else
    roriw   high, \x, 6
    roriw   temp, \x, 11
    roriw   \out, \x, 25
.endif
    xor     temp, temp, high
    xor     \out, \out, temp
.endm

.macro small_begin x
    mv      high, \x
.endm

/* rotations 7, 18 and the shift by 3. */
.macro small_first
    roriw   temp, high, 7
    roriw   half, high, 18
    srliw   spare, high, 3
    xor     temp, temp, half
    xor     temp, temp, spare
.endm

.macro small_first_only
    small_first
.endm

/* rotations 17, 19 and the shift by 10. */
.macro small_second
    roriw   temp, high, 17
    roriw   half, high, 19
    srliw   high, high, 10
    xor     temp, temp, half
    xor     temp, temp, high
.endm

.macro load_constants
.endm

.macro load_constant3
.endm

func sha256_u8_rv64gc_zbb, zbb
    sha256_blocks
endfunc
