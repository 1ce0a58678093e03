/* Unpack an image with a network, which is packed with LZMA, in C (boot/unpack_lzma.c). */
#include "boot/asm.h"

/* x0: the block, x1: the destination. The probabilities and the stack are in bss, which is
 * cleared afterwards. Clobbers x0 to x18 and sp. */
func block_unpack
    mov     x2, x1
    mov     x1, x0
    adrp    x0, bss_start
    add     x0, x0, :lo12:bss_start
    adrp    x9, bss_end                 // the beginning of a page
    mov     sp, x9
    b       unpack_block
endfunc block_unpack

    .section .note.GNU-stack, "", %progbits
