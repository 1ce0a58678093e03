/* Restores BL and ADRP, a third of all instructions that name an address. ADRP counts pages of 4
 * KiB (Arm Architecture Reference Manual, DDI 0487, C6.2: BL, ADRP). Flags and limits of this file
 * are those of unpack_lzma.c. */
#include "boot/unpack_code.h"

#include <stdint.h>

enum {
    CALL = 0x25, /* bits 31 to 26 of BL */
    CALL_BITS = 26,
    PAGE_BITS = 12,
};
static const uint32_t page_mask = 0x9f000000, page_code = 0x90000000; /* bits that make an ADRP */

void unpack_code(void *code, const void *end)
{
    const uintptr_t image = (uintptr_t)code >> PAGE_BITS << PAGE_BITS;

    for (uint32_t *at = code; at < (const uint32_t *)end; at++) {
        uint32_t word = *at, offset = (uint32_t)((uintptr_t)at - image);

        if (word >> CALL_BITS == CALL) {
            word = (word - offset / 4) & ((1u << CALL_BITS) - 1);
            *at = (uint32_t)CALL << CALL_BITS | word;
        } else if ((word & page_mask) == page_code) {
            /* The two low bits of the distance are bits 30 and 29, the others begin at bit 5. */
            uint32_t pages = (word >> 29 & 3) | (word >> 3 & 0x1ffffc);

            pages -= offset >> PAGE_BITS;
            *at = (word & (page_mask | 31)) | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5;
        }
    }
}
