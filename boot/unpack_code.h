/* The second step of unpacking an image. Instructions name other code by its distance, which differs
 * at each place. The packer replaces these distances with offsets from the beginning of the image,
 * which are the same at each place and therefore take fewer bytes in LZMA (toolchain/pack_image.py;
 * liblzma's filters for these ISAs do the same in other formats). */
#ifndef INGOT_BOOT_UNPACK_CODE_H
#define INGOT_BOOT_UNPACK_CODE_H

/* Restore the distances in the code from `code` to `end`, both multiples of 4 bytes and at most 4 MiB
 * apart. `code` is in the image's first page, which is aligned to 4096 bytes. Data between the code
 * also changes in the packer, and is restored. */
void unpack_code(void *code, const void *end);

#endif
