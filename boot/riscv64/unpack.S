/* Unpack the image, whose bytes after the head are packed (boot/unpack_lzma.c). During unpacking,
 * the packed bytes are where the stacks will be. Without the MMU, the platform decides whether
 * memory is cached (RISC-V privileged architecture 20211203, 3.6). The decoder's probabilities and
 * its stack are in bss, which is cleared afterwards. */
#include "boot/asm.h"
#include "boot/unpack.h"

/* Does nothing if the image is not packed. Clobbers a0 to a7, t0 to t6, s3 and sp. C keeps s3. */
func image_unpack
    la      t0, image_packed
    lwu     t1, (t0)
    beqz    t1, 9f
    la      a2, image_head_end          // out
    la      a1, image_end
    li      a3, UNPACK_TABLES_BYTES
    sub     a1, a1, a3
    addi    a3, t1, 63
    andi    a3, a3, -64
    sub     a1, a1, a3                  // in
    add     a3, a1, t1
    mv      a4, a1
    mv      a5, a2
1:  ld      a6, (a5)                    // copies up to 7 bytes too many
    sd      a6, (a4)
    addi    a5, a5, 8
    addi    a4, a4, 8
    bltu    a4, a3, 1b
    mv      s3, ra
    la      a0, bss_start
    la      sp, bss_end
    call    unpack_block
    la      a0, image_head_end
    la      a1, text_end
    call    unpack_code
    mv      ra, s3
    la      t0, image_packed
    sw      zero, (t0)
    fence.i
9:  ret
endfunc image_unpack

    .section .note.GNU-stack, "", %progbits
