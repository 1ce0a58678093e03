/* Unpack an image packed with LZ4 (LZ4 block format 1.6.3). */
#include "boot/asm.h"

/* x0: the block, x2: its end, x1: the destination. Clobbers x0, x1, x3 to x6. */
func block_unpack
1:  ldrb    w3, [x0], #1                // literals in the high half, the match's length in the low
    lsr     x4, x3, #4
    cmp     x4, #15
    b.ne    3f
2:  ldrb    w5, [x0], #1
    add     x4, x4, x5
    cmp     x5, #255
    b.eq    2b
3:  cbz     x4, 5f
4:  ldrb    w5, [x0], #1
    strb    w5, [x1], #1
    subs    x4, x4, #1
    b.ne    4b
5:  cmp     x0, x2                      // the last sequence has only literals
    b.hs    9f
    ldrb    w5, [x0], #1
    ldrb    w6, [x0], #1
    orr     w6, w5, w6, lsl #8
    sub     x6, x1, x6                  // source and destination may overlap: copy byte by byte
    and     x4, x3, #15
    cmp     x4, #15
    b.ne    7f
6:  ldrb    w5, [x0], #1
    add     x4, x4, x5
    cmp     x5, #255
    b.eq    6b
7:  add     x4, x4, #4
8:  ldrb    w5, [x6], #1
    strb    w5, [x1], #1
    subs    x4, x4, #1
    b.ne    8b
    b       1b
9:  ret
endfunc block_unpack

    .section .note.GNU-stack, "", %progbits
