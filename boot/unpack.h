/* The location of a packed image while it unpacks itself, for assembly and the linker script: at
 * the end of the stacks, below room for the page tables of the largest image
 * (BOARD_IMAGE_RAM_BYTES, 16 MiB). */
#ifndef INGOT_BOOT_UNPACK_H
#define INGOT_BOOT_UNPACK_H

#define UNPACK_TABLES_BYTES 65536
/* The largest number of packed bytes for which the stacks' memory has room. */
#define UNPACK_ROOM (STACKS_BYTES - UNPACK_TABLES_BYTES)

#endif
