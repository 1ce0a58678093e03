/* Changes of the FAT, only for fat32_write.c. */
#ifndef INGOT_RUNTIME_FAT32_CHAIN_H
#define INGOT_RUNTIME_FAT32_CHAIN_H

#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/fat32.h"

/* Write n sectors from fs->buffer, which holds the first of them. ERR_IO, ERR_TIMEOUT. */
enum err fat32_put_sectors(struct fat32 *fs, uint64_t sector, uint32_t n);

/* Zero a cluster; if `first` (512 bytes) is not NULL, write it to the first sector instead. */
enum err fat32_clear_cluster(struct fat32 *fs, uint32_t cluster, const uint8_t *first);

/* *cluster = a free one. ERR_NO_SPACE. */
enum err fat32_find_free(struct fat32 *fs, uint32_t *cluster);

/* Whether clusters from fat32_reserve are free on this volume, before anything is written.
 * ERR_BAD_FILESYSTEM: they are not, or it has no such clusters, so this is another card. */
enum err fat32_check_free(struct fat32 *fs, const struct file *file);

/* Chain the clusters of a file that has passed fat32_check_free. */
enum err fat32_link_file(struct fat32 *fs, const struct file *file);

/* Append `cluster` to the chain that ends with `before` (0: begin a chain): the end is written
 * first. */
enum err fat32_link_cluster(struct fat32 *fs, uint32_t before, uint32_t cluster);

/* Whether the chain of a file has as many clusters as the file. ERR_BAD_FILESYSTEM: it does not,
 * and must not be freed. */
enum err fat32_check_length(struct fat32 *fs, uint32_t cluster, uint64_t bytes);

/* Free a chain that was proved to belong to one file alone. */
enum err fat32_free_chain(struct fat32 *fs, uint32_t cluster);

/* FSInfo's count of free clusters, on which other systems may rely: mark it unknown before the
 * FAT changes ... */
enum err fat32_forget_free(struct fat32 *fs);
/* ... and set it again afterwards. It is counted in the FAT, because the old number may be
 * wrong; if reading the FAT takes too long, it stays unknown. */
enum err fat32_tell_free(struct fat32 *fs);

/* The first cluster of a file. */
uint32_t fat32_first_cluster(const struct fat32 *fs, const struct file *file);

#endif
