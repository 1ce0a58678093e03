/* The image's own unpacking: what follows the head came in LZ4 (LZ4 block format 1.6.3). It lies
 * where the stacks will be while its bytes are put in place. Without the MMU, memory is cached as
 * the platform says (RISC-V privileged architecture 20211203, 3.6). */
#include "boot/asm.h"
#include "boot/unpack.h"

/* Nothing to do where the image is as it was linked. Clobbers a0 to a5, t0 to t2. */
func image_unpack
    la      t0, image_packed
    lwu     t1, (t0)
    beqz    t1, 9f
    la      a1, image_head_end
    la      a0, image_end
    li      a2, UNPACK_TABLES_BYTES
    sub     a0, a0, a2
    addi    a2, t1, 63
    andi    a2, a2, -64
    sub     a0, a0, a2
    add     a2, a0, t1
    mv      a3, a0
    mv      a4, a1
1:  ld      a5, (a4)                    // up to 7 bytes more
    sd      a5, (a3)
    addi    a4, a4, 8
    addi    a3, a3, 8
    bltu    a3, a2, 1b
    mv      t2, ra
    call    lz4_unpack
    mv      ra, t2
    sw      zero, (t0)
    fence.i
9:  ret
endfunc image_unpack

/* a0: the block, a2: its end, a1: where it goes. Clobbers a0, a1, a3 to a5, t1, t3. */
func lz4_unpack
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
5:  bgeu    a0, a2, 9f                  // the last sequence has literals alone
    lbu     a4, (a0)
    lbu     a5, 1(a0)
    addi    a0, a0, 2
    slli    a5, a5, 8
    or      a5, a5, a4
    sub     a5, a1, a5                  // may overlap with what it becomes: byte by byte
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
endfunc lz4_unpack

    .section .note.GNU-stack, "", %progbits
