/* Unpack the image, whose bytes after the head are packed (unpack_lz4.S, unpack_lzma.S). The
 * packed bytes are in the later stacks during unpacking. Without the MMU, the platform decides
 * whether memory is cached (RISC-V privileged architecture 20211203, 3.6). */
#include "boot/asm.h"
#include "boot/unpack.h"

/* Does nothing if the image is not packed. Clobbers a0 to a7, t0 to t6, s3, sp. */
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
    mv      s3, ra
    call    block_unpack
    mv      ra, s3
    la      t0, image_packed
    sw      zero, (t0)
    fence.i
9:  ret
endfunc image_unpack

    .section .note.GNU-stack, "", %progbits
