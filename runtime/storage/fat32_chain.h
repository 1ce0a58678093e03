/* Changes of the FAT, for fat32_write.c alone. */
#ifndef INGOT_RUNTIME_FAT32_CHAIN_H
#define INGOT_RUNTIME_FAT32_CHAIN_H

#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/fat32.h"

/* Write n sectors from fs->buffer, where the first of them is. ERR_IO, ERR_TIMEOUT. */
enum err fat32_put_sectors(struct fat32 *fs, uint64_t sector, uint32_t n);

/* Zeros to all of a cluster; `first` (512 bytes) to its first sector in their place, or NULL. */
enum err fat32_clear_cluster(struct fat32 *fs, uint32_t cluster, const uint8_t *first);

/* *cluster = a free one. ERR_NO_SPACE. */
enum err fat32_find_free(struct fat32 *fs, uint32_t *cluster);

/* Whether clusters that fat32_reserve gave are free on this volume, before anything is written. ERR_BAD_FILESYSTEM: they are
 * not, or it has no such clusters, so this is another card. */
enum err fat32_check_free(struct fat32 *fs, const struct file *file);

/* Chain the clusters of a file that fat32_check_free passes. */
enum err fat32_link_file(struct fat32 *fs, const struct file *file);

/* `cluster` ends a chain; where `before` is not 0, after it: the end is written first. */
enum err fat32_link_cluster(struct fat32 *fs, uint32_t before, uint32_t cluster);

/* Whether the chain of a file has as many clusters as the file. ERR_BAD_FILESYSTEM: it has not, and must not be freed. */
enum err fat32_check_length(struct fat32 *fs, uint32_t cluster, uint64_t bytes);

/* Free a chain that was found to be one file's alone. */
enum err fat32_free_chain(struct fat32 *fs, uint32_t cluster);

/* FSInfo's count of free clusters, which others may rely on: unknown before the FAT changes ... */
enum err fat32_forget_free(struct fat32 *fs);
/* ... and told again after. It is counted in the FAT, because the number that was there may be anything; of a FAT that
 * takes long to read it stays unknown. */
enum err fat32_tell_free(struct fat32 *fs);

/* The first cluster of a file. */
uint32_t fat32_first_cluster(const struct fat32 *fs, const struct file *file);

#endif
