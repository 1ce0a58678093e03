/* void crc32c_u8_rv64gc(uint32_t *crc, const void *data, size_t n)
 *
 * a0 crc, a1 data, a2 n. Clobbers a1-a7, t0-t6. 9.7 KiB of stack.
 *
 * There is no CRC instruction. So the words of long data are eliminated one by one, and only the
 * rest goes through a table. The words of a message are the coefficients of a polynomial in z =
 * x^64. Over GF(2) P(z) = P(x)^64, so a multiple of P in x is also one in z with the same
 * exponents. x^209 + x^144 + x^54 + x^39 + x^14 + 1 is such a multiple, the shortest with six terms
 * (tests/bench/crc_terms.py searches for them; with four terms the degree is above 5,000). Adding a
 * word times this multiple does not change the remainder and eliminates the word: it is added to
 * the words that are 65, 155, 170, 195 and 209 places after it. So each word becomes the sum of
 * itself and of five earlier words, which are kept on the stack. In the end, the CRC of the last
 * 209 words is that of all data.
 *
 * Four words take 51 instructions, 28 of them loads and stores; each load comes three instructions
 * before its use. In the models of llvm-mca four words take 32 cycles on a U74, 51 on a U54. Bytes
 * up to a multiple of 8 come first, because unaligned loads may trap. */
#include "kernels/riscv64/asm.h"

#define WINDOW 209                    /* words */
#define CHUNK 1024                    /* words between two moves of the window */
#define MOVED (WINDOW + 3)            /* words of a move, four at a time */
#define FRAME (8 * (MOVED + CHUNK))
#define LEAST 3600                    /* bytes: shorter data are as fast byte by byte */

#define pointer a0
#define data a1
#define left a2
#define crc a3
#define table a4
#define words a5                      /* words to eliminate after the chunk */
#define place a6                      /* place of the word after the window */
#define end a7
#define sum0 t0
#define sum1 t1
#define sum2 t2
#define sum3 t3
#define temp0 t4
#define temp1 t5
#define temp2 t6
#define temp3 crc

/* x = x >> 8, plus the table's entry for its lowest byte. */
.macro shift_byte x, temp
    andi    \temp, \x, 255
    slli    \temp, \temp, 2
    add     \temp, \temp, table
    lwu     \temp, 0(\temp)
    srli    \x, \x, 8
    xor     \x, \x, \temp
.endm

.macro one_byte
    lbu     temp0, 0(data)
    addi    data, data, 1
    addi    left, left, -1
    xor     crc, crc, temp0
    shift_byte crc, temp0
.endm

/* Add the four words that precede the current four by `delay`; they load while the words of the
 * previous delay are added. */
.macro add_before delay, first
    ld      temp0, -8*\delay(place)
    .ifb \first
    xor     sum1, sum1, temp1
    .endif
    ld      temp1, 8-8*\delay(place)
    .ifb \first
    xor     sum2, sum2, temp2
    .endif
    ld      temp2, 16-8*\delay(place)
    .ifb \first
    xor     sum3, sum3, temp3
    .endif
    ld      temp3, 24-8*\delay(place)
    xor     sum0, sum0, temp0
.endm

func crc32c_u8_rv64gc
    lwu     crc, 0(pointer)
    la      table, crc_table
    li      temp0, LEAST
    bltu    left, temp0, 8f
1:  andi    temp0, data, 7
    beqz    temp0, 2f
    one_byte
    j       1b

2:  li      temp0, -FRAME
    add     sp, sp, temp0
    .cfi_adjust_cfa_offset FRAME
    mv      place, sp
    addi    end, sp, 8*(MOVED - 1)
3:  sd      zero, 0(place)            /* nothing was eliminated before */
    addi    place, place, 8
    bltu    place, end, 3b
    ld      temp0, 0(data)            /* the first word is eliminated because it is in the window */
    addi    data, data, 8
    xor     temp0, temp0, crc
    sd      temp0, 0(place)
    srli    words, left, 3            /* the other words, a multiple of four */
    addi    words, words, -(WINDOW + 1)
    andi    words, words, -4
    slli    words, words, 3           /* counted in bytes from here on */
    sub     left, left, words
    addi    left, left, -8*(WINDOW + 1)

4:  li      end, 8*CHUNK
    bgeu    words, end, 5f
    mv      end, words
5:  sub     words, words, end
    addi    place, sp, 8*MOVED
    add     end, end, place
6:  ld      sum0, 0(data)
    ld      sum1, 8(data)
    ld      sum2, 16(data)
    ld      sum3, 24(data)
    addi    data, data, 32
    add_before 65, first
    add_before 155
    add_before 170
    add_before 195
    add_before 209
    xor     sum1, sum1, temp1
    sd      sum0, 0(place)
    xor     sum2, sum2, temp2
    sd      sum1, 8(place)
    xor     sum3, sum3, temp3
    sd      sum2, 16(place)
    sd      sum3, 24(place)
    addi    place, place, 32
    bne     place, end, 6b

    mv      end, sp                   /* move the window to the front */
    addi    place, place, -8*MOVED
    addi    table, sp, 8*MOVED
7:  ld      sum0, 0(place)
    ld      sum1, 8(place)
    ld      sum2, 16(place)
    ld      sum3, 24(place)
    sd      sum0, 0(end)
    sd      sum1, 8(end)
    sd      sum2, 16(end)
    sd      sum3, 24(end)
    addi    end, end, 32
    addi    place, place, 32
    bne     end, table, 7b
    bnez    words, 4b

    addi    end, end, 8*WINDOW        /* the last words are not eliminated */
    addi    place, sp, 8*MOVED
6:  sd      zero, 0(place)
    addi    place, place, 8
    bne     place, end, 6b
    addi    place, sp, 8*MOVED
    la      table, crc_table
    li      crc, 0
6:  ld      sum0, 0(data)
    ld      temp0, -8*65(place)
    ld      temp1, -8*155(place)
    ld      temp2, -8*170(place)
    ld      sum1, -8*195(place)
    ld      sum2, -8*209(place)
    xor     crc, crc, sum0
    xor     temp0, temp0, temp1
    xor     temp2, temp2, sum1
    xor     crc, crc, sum2
    xor     temp0, temp0, temp2
    xor     crc, crc, temp0
    li      sum0, 8
7:  shift_byte crc, temp0
    addi    sum0, sum0, -1
    bnez    sum0, 7b
    addi    data, data, 8
    addi    place, place, 8
    bne     place, end, 6b
    li      temp0, FRAME
    add     sp, sp, temp0
    .cfi_adjust_cfa_offset -FRAME

8:  beqz    left, 9f
    one_byte
    j       8b
9:  sw      crc, 0(pointer)
    ret
endfunc

/* Compute the register after one byte, with shifts. */
    .section .rodata.crc_table, "a", @progbits
    .balign 4
crc_table:
    .set    byte, 0
    .rept   256
    .set    entry, byte
    .rept   8
    .set    entry, (entry >> 1) ^ (0x82f63b78 & -(entry & 1))
    .endr
    .word   entry
    .set    byte, byte + 1
    .endr
