/* Restores JAL, and AUIPC with the instruction after it, which holds the low 12 bits of the
 * distance (RISC-V unprivileged ISA 20191213, 2.5, 2.4). Flags and limits of this file are those of
 * unpack_lzma.c. */
#include "boot/unpack_code.h"

#include <stdint.h>

enum {
    PAGE_BYTES = 4096,
    IS_LONG = 3, /* both bits are set in an instruction of 4 bytes */
    OPCODE = 0x7f,
    JAL = 0x6f,
    AUIPC = 0x17,
    KEPT = 0xfff, /* opcode and destination */
};

/* Because of instructions of 2 bytes, the others may begin at any multiple of 2. */
static uint32_t load(const uint16_t *at)
{
    return at[0] | (uint32_t)at[1] << 16;
}

static void store(uint16_t *at, uint32_t word)
{
    at[0] = (uint16_t)word;
    at[1] = (uint16_t)(word >> 16);
}

/* The offset's bytes begin with the highest: the bytes that differ least come first. */
static uint32_t reversed(uint32_t word)
{
    return word << 24 | (word << 8 & 0xff0000) | (word >> 8 & 0xff00) | word >> 24;
}

/* Bits 31 to 12 of the packed JAL hold half the offset: its highest 4 bits, then two bytes. */
static uint32_t unpack_jal(uint32_t word, uint32_t at)
{
    uint32_t half = (word << 4 & 0xf0000) | (word >> 8 & 0xff00) | word >> 24;
    uint32_t distance = 2 * half - at;

    /* The bits of the distance: 20, 10 to 1, 11, 19 to 12. */
    return (word & KEPT) | (distance & 0xff000) | (distance << 9 & 1u << 20) |
           (distance << 20 & 0x7fe00000) | (distance << 11 & 1u << 31);
}

void unpack_code(void *code, const void *end)
{
    const uintptr_t image = (uintptr_t)code / PAGE_BYTES * PAGE_BYTES;
    uint16_t *at = code;

    while (at + 4 <= (const uint16_t *)end) {
        uint32_t word = load(at), offset = (uint32_t)((uintptr_t)at - image);

        if ((word & IS_LONG) != IS_LONG) {
            at++;
            continue;
        }
        if ((word & OPCODE) == JAL) {
            store(at, unpack_jal(word, offset));
        }
        /* The packed second word holds the offset, and the packed first word the low 20 bits of the
         * unpacked second word. The immediates are signed: if the low one is negative, the high one
         * is larger by 1. */
        if ((word & OPCODE) == AUIPC) {
            uint32_t distance = reversed(load(at + 2)) - offset;

            store(at, (word & KEPT) | ((distance + PAGE_BYTES / 2) & ~(uint32_t)KEPT));
            store(at + 2, word >> 12 | distance << 20);
            at += 2;
        }
        at += 2;
    }
}
