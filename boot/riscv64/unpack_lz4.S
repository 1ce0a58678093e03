/* Unpack an image packed with LZ4 (LZ4 block format 1.6.3). */
#include "boot/asm.h"

/* a0: the block, a2: its end, a1: the destination. Clobbers a0, a1, a3 to a5, t1, t3. */
func block_unpack
    li      t3, 15
    li      t1, 255
1:  lbu     a3, (a0)                    // literals in the high half, the match's length in the low
    addi    a0, a0, 1
    srli    a4, a3, 4
    bne     a4, t3, 3f
2:  lbu     a5, (a0)
    addi    a0, a0, 1
    add     a4, a4, a5
    beq     a5, t1, 2b
3:  beqz    a4, 5f
    add     a4, a4, a1
4:  lbu     a5, (a0)
    addi    a0, a0, 1
    sb      a5, (a1)
    addi    a1, a1, 1
    bne     a1, a4, 4b
5:  bgeu    a0, a2, 9f                  // the last sequence has only literals
    lbu     a4, (a0)
    lbu     a5, 1(a0)
    addi    a0, a0, 2
    slli    a5, a5, 8
    or      a5, a5, a4
    sub     a5, a1, a5                  // source and destination may overlap: copy byte by byte
    andi    a3, a3, 15
    mv      a4, a3
    bne     a3, t3, 7f
6:  lbu     a3, (a0)
    addi    a0, a0, 1
    add     a4, a4, a3
    beq     a3, t1, 6b
7:  addi    a4, a4, 4
    add     a4, a4, a1
8:  lbu     a3, (a5)
    addi    a5, a5, 1
    sb      a3, (a1)
    addi    a1, a1, 1
    bne     a1, a4, 8b
    j       1b
9:  ret
endfunc block_unpack

    .section .note.GNU-stack, "", %progbits
