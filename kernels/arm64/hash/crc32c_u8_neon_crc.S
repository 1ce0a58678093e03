// void crc32c_u8_neon_crc(uint32_t *crc, const void *data, size_t n)
//
// x0 crc; x1 data; x2 n.
// Clobbers x1-x15.
//
// Single bytes come first, up to an address divisible by 8, because alignment may be checked. Then
// each instruction takes 8 bytes and waits for the previous one: 3 cycles on Cortex-A53 and 2 on
// Cortex-A72 (their optimization guides). Therefore long data are split into four pieces, which do
// not wait for each other. To move the result of a piece past the next piece, multiply it by x^(8 *
// PIECE) modulo the polynomial. This takes 32 steps, beginning with the lowest bit, which is the
// highest power. PIECE is an odd number of cache lines, so that the four pieces are not in one set
// of a cache.
#include "kernels/arm64/asm.h"

#define pointer x0
#define bytes x1
#define left x2
#define sum w3
#define sum1 w4
#define sum2 w5
#define sum3 w6
#define bytes1 x7
#define bytes2 x8
#define bytes3 x9
#define data x10
#define data1 x11
#define data2 x12
#define data3 x13
#define end x14

// Shares a register with `data`; used only between two blocks.
#define product w10
#define other w11
#define steps w12
#define pieces w13
#define power w14
#define poly w15

#define PIECE 8128
#define POWER 0xa3c88bd4                // x^(8 * PIECE), reflected like the polynomial
#define POLY 0x82f63b78

func crc32c_u8_neon_crc, crc
    ldr     sum, [pointer]
1:  cbz     left, 9f
    tst     bytes, #7
    b.eq    2f
    ldrb    w4, [bytes], #1
    sub     left, left, #1
    crc32cb sum, sum, w4
    b       1b
2:  mov     data, #4 * PIECE
    subs    left, left, data
    b.lo    6f
    mov     data, #PIECE
    add     bytes1, bytes, data
    add     bytes2, bytes1, data
    add     bytes3, bytes2, data
    mov     end, bytes1
    mov     sum1, wzr
    mov     sum2, wzr
    mov     sum3, wzr
3:  ldr     data, [bytes], #8
    ldr     data1, [bytes1], #8
    ldr     data2, [bytes2], #8
    ldr     data3, [bytes3], #8
    crc32cx sum, sum, data
    crc32cx sum1, sum1, data1
    crc32cx sum2, sum2, data2
    crc32cx sum3, sum3, data3
    cmp     bytes, end
    b.ne    3b
    mov     bytes, bytes3
    mov_word power, POWER
    mov_word poly, POLY
    mov     pieces, #3
4:  mov     product, wzr
    mov     steps, #32
5:  tst     product, #1
    lsr     product, product, #1
    eor     other, product, poly
    csel    product, other, product, ne
    tst     sum, #1
    lsr     sum, sum, #1
    eor     other, product, power
    csel    product, other, product, ne
    subs    steps, steps, #1
    b.ne    5b
    eor     sum, product, sum1
    mov     sum1, sum2
    mov     sum2, sum3
    subs    pieces, pieces, #1
    b.ne    4b
    b       2b
6:  add     left, left, data
7:  subs    left, left, #16
    b.lo    8f
    ldp     data, data1, [bytes], #16
    crc32cx sum, sum, data
    crc32cx sum, sum, data1
    b       7b
8:  adds    left, left, #16
    b.eq    9f
    ldrb    w4, [bytes], #1
    crc32cb sum, sum, w4
    sub     left, left, #17
    b       8b
9:  str     sum, [pointer]
    ret
endfunc crc32c_u8_neon_crc
