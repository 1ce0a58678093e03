/* The LZMA decoder with which an image unpacks itself. */
#ifndef INGOT_BOOT_UNPACK_LZMA_H
#define INGOT_BOOT_UNPACK_LZMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The probability models depend on a byte's place within the shortest instruction, not on the byte
 * before it: LZMA's lc is 0, and 1 << lp and 1 << pb are UNPACK_PLACES. Compressed instructions of
 * RISC-V have 2 bytes; with 4 places an image with a network takes 1,600 bytes more. `packing` in
 * boot/asm.h tells toolchain/pack_image.py the value of UNPACK_PLACES. */
#ifdef __riscv
enum { UNPACK_PLACES = 2 };
#else
enum { UNPACK_PLACES = 4 };
#endif
enum { UNPACK_STATES = 12 };

struct unpack_lengths {
    uint16_t choice, choice2;
    uint16_t low[UNPACK_PLACES][8], middle[UNPACK_PLACES][8], high[256];
};

/* Probabilities of a 0, all of them uint16_t. */
struct unpack_lzma {
    uint16_t is_match[UNPACK_STATES][UNPACK_PLACES];
    uint16_t is_repeat[UNPACK_STATES], repeat0[UNPACK_STATES], repeat1[UNPACK_STATES];
    uint16_t repeat2[UNPACK_STATES], repeat0_long[UNPACK_STATES][UNPACK_PLACES];
    uint16_t slots[4][64], special[115], align[16];
    struct unpack_lengths matches, repeated;
    uint16_t literals[UNPACK_PLACES][0x300];
};

/* Unpack the packer's output at `in` to `out`; returns the end of the output. u is work memory; its
 * content does not matter. The stream is trusted, because it is part of the image. */
uint8_t *unpack_block(struct unpack_lzma *u, const uint8_t *in, uint8_t *out);

#endif
