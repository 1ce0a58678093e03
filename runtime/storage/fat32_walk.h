/* Walks over a volume, only for fat32_proof.c. Each chain of clusters is followed and compared with
 * the claims. */
#ifndef INGOT_RUNTIME_FAT32_WALK_H
#define INGOT_RUNTIME_FAT32_WALK_H

#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/fat32_proof.h"

/* Set fs->why to a message that names the damage of the file system, and the program that repairs
 * it. Returns ERR_BAD_FILESYSTEM. */
enum err fat32_damaged(struct fat32 *fs, const char *what);

/* If e, the error of a read, means damage, do as fat32_damaged. Return other errors unchanged. */
enum err fat32_name_damage(struct fat32 *fs, enum err e);

/* Return how many clusters this many bytes take. */
uint64_t fat32_clusters_of(const struct fat32 *fs, uint64_t bytes);

/* Follow the chain of an entry to its end, and set p->length. ERR_BAD_FILESYSTEM: the chain is
 * shorter than its file, is a cycle, meets a free cluster, leaves the volume, or has clusters that
 * another chain claims. Errors of the device. If p->gave_up is set, the chain was not followed to
 * its end. */
enum err fat32_visit_chain(struct fat32_proof *p, const struct fat32_entry *x);

/* Visit all folders and files, from the root on. Errors: those of fat32_visit_chain. */
enum err fat32_walk(struct fat32_proof *p);

#endif
