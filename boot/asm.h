/* The beginning of the assembly of both ISAs. */
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

/* 64 bytes behind the entry, where both ISAs' Image headers end. toolchain/pack_image.py packs what
 * lies behind the first image_head_bytes, says so in the first word, and refuses what is larger than
 * image_pack_room. A linked image is as it is. */
.macro packing
    .globl image_packed
image_packed:
    .long   0                           // bytes behind the head, packed; 0: not packed
    .long   image_head_bytes
    .long   image_pack_room
    .long   image_packing               // how: "LZ4B" or "LZMA"
.endm

#endif
