/* An image with a network unpacks itself: LZMA, in C (boot/unpack_lzma.c). */
#include "boot/asm.h"

/* x0: the block, x1: where it goes. bss, which is cleared afterwards, has the probabilities and the
 * stack. Clobbers x0 to x18 and sp. */
func block_unpack
    mov     x2, x1
    mov     x1, x0
    adrp    x0, bss_start
    add     x0, x0, :lo12:bss_start
    adrp    x9, bss_end                 // a page's beginning
    mov     sp, x9
    b       unpack_block
endfunc block_unpack

    .section .note.GNU-stack, "", %progbits
