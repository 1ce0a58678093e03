/* Changes the FAT, for fat32_write.c. */
#ifndef INGOT_RUNTIME_FAT32_CHAIN_H
#define INGOT_RUNTIME_FAT32_CHAIN_H

#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/fat32.h"

/* Write n sectors from fs->buffer. ERR_IO, ERR_TIMEOUT. */
enum err fat32_put_sectors(struct fat32 *fs, uint64_t sector, uint32_t n);

/* Fill a cluster with zeros. If `first` (512 bytes) is not NULL, its bytes become the cluster's
 * first sector. */
enum err fat32_clear_cluster(struct fat32 *fs, uint32_t cluster, const uint8_t *first);

/* Set *cluster to a free cluster. ERR_NO_SPACE. */
enum err fat32_find_free(struct fat32 *fs, uint32_t *cluster);

/* Check that the clusters from fat32_reserve are free on this volume, before anything is
 * written. ERR_BAD_FILESYSTEM: they are not free, or do not exist, so this is another card. */
enum err fat32_check_free(struct fat32 *fs, const struct file *file);

/* Chain the clusters of a file that has passed fat32_check_free. */
enum err fat32_link_file(struct fat32 *fs, const struct file *file);

/* Append `cluster` to the chain that ends with `before`, or begin a chain if `before` is 0. The new
 * end is written first. */
enum err fat32_link_cluster(struct fat32 *fs, uint32_t before, uint32_t cluster);

/* Check that a file's chain has as many clusters as the file needs. ERR_BAD_FILESYSTEM: the number
 * differs, so the chain must not be freed. */
enum err fat32_check_length(struct fat32 *fs, uint32_t cluster, uint64_t bytes);

/* Free a chain that was proved to belong to only one file. */
enum err fat32_free_chain(struct fat32 *fs, uint32_t cluster);

/* Before the FAT changes, mark FSInfo's count of free clusters as unknown, because other systems
 * may rely on it. */
enum err fat32_forget_free(struct fat32 *fs);
/* Set FSInfo's count of free clusters again, after the FAT changed. The clusters are counted in the
 * FAT, because the old number may be wrong. If that takes too long, the count stays unknown. */
enum err fat32_tell_free(struct fat32 *fs);

/* Return the first cluster of a file. */
uint32_t fat32_first_cluster(const struct fat32 *fs, const struct file *file);

#endif
