/* Makes new files on a FAT32 volume. A power cut at any write leaves every other file unchanged,
 * because first the bytes go to free clusters, then the clusters are chained in the FAT, and then
 * one sector of the folder names the file. A power cut before the last write leaves clusters that
 * belong to no file; fsck.vfat -a frees them. A sector of 512 bytes must be written as a whole or
 * not at all. Source: Microsoft Extensible Firmware Initiative FAT32 File System Specification
 * 1.03. */
#ifndef INGOT_RUNTIME_FAT32_WRITE_H
#define INGOT_RUNTIME_FAT32_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/file.h"

enum { FAT32_NEW_NAME_BYTES = 64 }; /* bytes of a name with its NUL */

/* Return true if a file can be made with that name, which is up to 63 letters, digits, '-', '_' and
 * '.' of ASCII, begins with a letter or digit, and does not end with '.'. */
bool fat32_is_new_name(const char *name);

/* Set *out to a file of free clusters for `bytes`, 1 to 4 GiB - 1. Nothing on the volume changes.
 * The same volume and size give the same clusters, so that bytes written before a power cut are
 * still there. The clusters are one piece if possible, otherwise the first free clusters.
 * ERR_RANGE: another size. ERR_NO_SPACE: too few are free. ERR_TOO_FRAGMENTED: the table is too
 * small. ERR_BAD_FILESYSTEM: fs->sealed. ERR_UNSUPPORTED: the volume is exFAT or read-only. */
enum err fat32_reserve(struct fat32 *fs, uint64_t bytes, const struct file_table *table,
                       struct file *out);

/* Publish the file of fat32_reserve as folder/name, in a folder of the root, which is made if
 * needed. The file replaces a file of that name. The caller has proved with fat32_prove_new that
 * everything freed and changed belongs to no other file. ERR_BAD_ARGUMENT: the name is not allowed,
 * or a folder has it. ERR_UNSUPPORTED: the existing file is read-only. ERR_BAD_FILESYSTEM: the
 * existing file's chain has the wrong length, or the clusters are no longer free. ERR_NO_SPACE: the
 * folder could not grow, or its short names are used up. Errors of the device. */
enum err fat32_publish(struct fat32 *fs, const char *folder, const char *name,
                       const struct file *file);

#endif
