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

/* Chain the clusters of a file that fat32_reserve gave. */
enum err fat32_link_file(struct fat32 *fs, const struct file *file);

/* `cluster` ends a chain; where `before` is not 0, after it: the end is written first. */
enum err fat32_link_cluster(struct fat32 *fs, uint32_t before, uint32_t cluster);

/* Free a chain. One that is damaged is freed up to there. */
enum err fat32_free_chain(struct fat32 *fs, uint32_t cluster);

/* FSInfo's count of free clusters, which others may rely on: unknown before the FAT changes ... *free is what it was,
 * UINT32_MAX: unknown. */
enum err fat32_forget_free(struct fat32 *fs, uint32_t *free);
/* ... and told again after; fs->taken counts what changed. */
enum err fat32_tell_free(struct fat32 *fs, uint32_t free);

/* The first cluster of a file. */
uint32_t fat32_first_cluster(const struct fat32 *fs, const struct file *file);

#endif
