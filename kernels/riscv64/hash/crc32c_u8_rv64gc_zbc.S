/* void crc32c_u8_rv64gc_zbc(uint32_t *crc, const void *data, size_t n)
 *
 * a0 crc, a1 data, a2 n. Clobbers a1-a5, t0-t6.
 *
 * The lowest bit of a register is the highest power of its polynomial. 16 bytes in two registers
 * stand for all data so far. Before the next 16 bytes are added, the two become high * x^192 + low
 * * x^128. The constants are these powers modulo the polynomial, but one power lower, because the
 * product of two reflected registers is shifted by one bit. At the end, and for single bytes, 64
 * bits are reduced to 32 by Barrett's method: the quotient is the 64 bits * floor(x^96 / P) / x^64,
 * the remainder is the part of quotient * P below x^32. 16 bytes take 12 instructions, 4 of them
 * multiplications that wait only for the previous 16 bytes. Bytes up to a multiple of 8 come first:
 * unaligned loads may trap. */
#include "kernels/riscv64/asm.h"

#define pointer a0
#define data a1
#define left a2
#define crc a3
#define barrett a4
#define poly a5
#define high t0
#define low t1
#define by_192 t2
#define by_128 t3
#define product t4
#define other t5
#define next t6

/* \to = the register after the 64 bits in \from; destroys `other`. */
.macro reduce to, from
    clmul   other, \from, barrett
    slli    other, other, 1
    xor     other, other, \from
    clmulr  \to, other, poly
.endm

.macro one_byte
    lbu     next, 0(data)
    addi    data, data, 1
    addi    left, left, -1
    xor     next, next, crc
    slli    next, next, 56
    srli    crc, crc, 8
    reduce  next, next
    xor     crc, crc, next
.endm

func crc32c_u8_rv64gc_zbc, zbc
    lwu     crc, 0(pointer)
    li      barrett, 0xa434f61c6f5389f8
    li      poly, 0x82f63b78
1:  beqz    left, 5f
    andi    next, data, 7
    beqz    next, 2f
    one_byte
    j       1b
2:  li      next, 32
    bltu    left, next, 4f
    li      by_192, 0x3743f7bd00000000
    li      by_128, 0x3171d43000000000
    ld      high, 0(data)
    ld      low, 8(data)
    xor     high, high, crc
    li      crc, 16                     /* bytes of a step */
    addi    left, left, -16
3:  addi    data, data, 16
    ld      next, 0(data)
    clmul   product, high, by_192
    clmulh  high, high, by_192
    clmul   other, low, by_128
    clmulh  low, low, by_128
    xor     next, next, product
    ld      product, 8(data)
    xor     low, low, high
    xor     high, next, other
    xor     low, low, product
    addi    left, left, -16
    bgeu    left, crc, 3b
    addi    data, data, 16
    reduce  crc, high
    xor     low, low, crc
    reduce  crc, low
4:  beqz    left, 5f
    one_byte
    j       4b
5:  sw      crc, 0(pointer)
    ret
endfunc
