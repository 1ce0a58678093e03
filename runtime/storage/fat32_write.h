/* New files on a FAT32 volume, in an order that a cut at any write leaves every other file as it was: the bytes go to
 * clusters that are free, then the FAT chains them, then one sector of the folder names them. A cut before the
 * last leaves clusters that belong to nobody, which fsck.vfat -a frees. Sectors of 512 bytes are taken as written whole
 * or not at all.
 * Source: Microsoft Extensible Firmware Initiative FAT32 File System Specification 1.03. */
#ifndef INGOT_RUNTIME_FAT32_WRITE_H
#define INGOT_RUNTIME_FAT32_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/file.h"

enum { FAT32_NEW_NAME_BYTES = 64 }; /* with its NUL */

/* Whether a file can be made with that name: up to 63 letters, digits, '-', '_' and '.' of ASCII, of which the first is a
 * letter or a digit and the last no '.'. */
bool fat32_is_new_name(const char *name);

/* *out = free clusters for `bytes`, 1 to 4 GiB - 1, as a file to write to; nothing on the volume has changed. The
 * same volume and size give the same clusters, so that what was written before a cut is still there. In one
 * piece where there is one, else in the first pieces. ERR_RANGE: another size. ERR_NO_SPACE: not so many are free.
 * ERR_TOO_FRAGMENTED: the table is too small. ERR_BAD_FILESYSTEM: fs->sealed. ERR_UNSUPPORTED: exFAT, or it takes no writes. */
enum err fat32_reserve(struct fat32 *fs, uint64_t bytes, const struct file_table *table,
                       struct file *out);

/* The file of fat32_reserve becomes folder/name (a folder of the root, made where it is not there), in place of a file that has the
 * name. ERR_BAD_ARGUMENT: no such name may be, or a folder has it. ERR_UNSUPPORTED: the file there has the
 * attribute read-only. ERR_BAD_FILESYSTEM: its chain is longer or shorter than it, or the clusters are not free any more. The caller
 * has proved by fat32_prove_new that what is freed and changed is nobody else's. ERR_NO_SPACE: the folder could not grow, or its
 * short names are used up. Those of the device. */
enum err fat32_publish(struct fat32 *fs, const char *folder, const char *name,
                       const struct file *file);

#endif
