/* Shared beginning of the assembly files of both ISAs. */
#ifndef INGOT_BOOT_ASM_H
#define INGOT_BOOT_ASM_H

.macro func name
    .section .text.\name, "ax"
    .globl \name
    .type \name, %function
    .balign 16
\name:
.endm

.macro endfunc name
    .size \name, . - \name
.endm

/* The end of both ISAs' Image headers, 64 bytes after the entry. toolchain/pack_image.py
 * packs the bytes after the first image_head_bytes (code up to image_code_bytes, then data) and
 * stores their packed size in the first word. It refuses an image whose packed size exceeds
 * image_pack_room. A freshly linked image is not packed. */
.macro packing
    .globl image_packed
image_packed:
    .long   0                           // packed size of the bytes after the head; 0: not packed
    .long   image_head_bytes
    .long   image_pack_room
#ifdef __riscv
    .ascii  "LZM2"                      // format and UNPACK_PLACES (boot/unpack_lzma.h)
#else
    .ascii  "LZM4"
#endif
    .long   image_code_bytes            // the end of the code (boot/unpack_code.h)
.endm

#endif
