/* Unpack the image, whose bytes after the head are packed (boot/unpack_lzma.c). During unpacking,
 * the packed bytes are where the stacks will be. The MMU is on, because uncached accesses would be
 * slow. The decoder's probabilities and its stack are in bss, which is cleared afterwards.
 *
 * With the MMU on, stores go to the caches, but later instructions are read from memory. The
 * unpacked image is therefore cleaned before the MMU goes off again. */
#include "boot/arm64/mmu_bits.h"
#include "boot/asm.h"
#include "boot/unpack.h"

/* A page: normal write-back, inner shareable, accessed; read, write and execute. */
#define PAGE_ENTRY  (3 | 3 << 8 | 1 << 10)
#define TABLE_ENTRY 3

/* Called at EL1 with the MMU off. Does nothing if the image is not packed. Clobbers x0 to x18,
 * x24, x25 and sp. C code preserves x24 and x25. */
func image_unpack
    adrp    x9, image_packed
    add     x9, x9, :lo12:image_packed
    ldr     w25, [x9]
    cbz     w25, 9f
    mov     x24, x30
    bl      image_clean                 // no old cache line may hide the tables
    bl      unpack_tables
    mov     x12, x0
    ldr     x13, =TCR_UNCACHED_WALKS    // the tables were written past the caches
    ldr     x14, =SCTLR_RWX
    bl      mmu_switch

    adrp    x1, image_head_end
    add     x1, x1, :lo12:image_head_end
    mov     x2, x1
    add     x3, x25, #63
    bic     x3, x3, #63
    sub     x10, x12, x3                // right below the tables
    mov     x3, x10
    add     x4, x10, x25
1:  ldp     x5, x6, [x2], #16           // copies up to 15 bytes too many
    stp     x5, x6, [x3], #16
    cmp     x3, x4
    b.lo    1b
    mov     x2, x1                      // out
    mov     x1, x10                     // in
    adrp    x0, bss_start
    add     x0, x0, :lo12:bss_start
    adrp    x9, bss_end                 // the beginning of a page
    mov     sp, x9
    bl      unpack_block
    adrp    x0, image_head_end
    add     x0, x0, :lo12:image_head_end
    adrp    x1, text_end                // the beginning of a page
    bl      unpack_code

    bl      image_clean
    ldr     x9, =SCTLR_OFF
    msr     sctlr_el1, x9
    isb
    tlbi    vmalle1
    ic      iallu
    dsb     sy
    isb
    adrp    x9, image_packed            // cores in the pen wait for this value
    add     x9, x9, :lo12:image_packed
    str     wzr, [x9]
    dsb     sy
    mov     x30, x24
9:  ret
endfunc image_unpack

/* Build tables that map only the image's own pages. Devices or the firmware's memory may lie next
 * to the image, and not even speculative reads may touch them. There is one table of 1 GiB entries, one
 * of 2 MiB entries, and as many tables of pages as the image needs. x0: the first table. Clobbers
 * x1 to x8. */
func unpack_tables
    adrp    x1, image_end
    sub     x0, x1, #UNPACK_TABLES_BYTES
    mov     x2, x0
1:  stp     xzr, xzr, [x2], #16
    cmp     x2, x1
    b.lo    1b

    adrp    x2, image_start
    add     x3, x0, #4096
    orr     x4, x3, #TABLE_ENTRY
    lsr     x5, x2, #30
    str     x4, [x0, x5, lsl #3]

    add     x4, x3, #4096
    orr     x6, x4, #TABLE_ENTRY
    lsr     x5, x2, #21
    sub     x7, x1, #1
    lsr     x7, x7, #21
2:  and     x8, x5, #511
    str     x6, [x3, x8, lsl #3]
    add     x6, x6, #4096
    add     x5, x5, #1
    cmp     x5, x7
    b.ls    2b

    ubfx    x5, x2, #12, #9
    add     x4, x4, x5, lsl #3
    mov     x6, #PAGE_ENTRY
    orr     x6, x6, x2
3:  str     x6, [x4], #8
    add     x6, x6, #4096
    add     x2, x2, #4096
    cmp     x2, x1
    b.lo    3b
    ret
endfunc unpack_tables

    .section .note.GNU-stack, "", %progbits
