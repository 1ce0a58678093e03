/* Unpack an image with a network, which is packed with LZMA, in C (boot/unpack_lzma.c). */
#include "boot/asm.h"

/* a0: the block, a1: the destination. The probabilities and the stack are in bss, which is
 * cleared afterwards. Clobbers a0 to a7, t0 to t6 and sp. */
func block_unpack
    mv      a2, a1
    mv      a1, a0
    la      a0, bss_start
    la      sp, bss_end
    tail    unpack_block
endfunc block_unpack

    .section .note.GNU-stack, "", %progbits
