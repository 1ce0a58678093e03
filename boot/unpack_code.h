/* The second step of unpacking an image. Instructions refer to other code by its distance, so two
 * references to the same code differ. The packer replaces these distances with offsets from the
 * beginning of the image, which are equal for both and therefore take fewer bytes in LZMA
 * (toolchain/pack_image.py; liblzma's filters for these ISAs do the same in other formats). */
#ifndef INGOT_BOOT_UNPACK_CODE_H
#define INGOT_BOOT_UNPACK_CODE_H

/* Restore the distances in the code from `code` to `end`, both multiples of 4 bytes and at most 4
 * MiB apart. `code` is in the image's first page, which is aligned to 4096 bytes. The packer also
 * changes data between the code; this function restores them. */
void unpack_code(void *code, const void *end);

#endif
