/* Blocks in memory and in a file: declarations that the files kept*.c share. */
#ifndef INGOT_RUNTIME_KEPT_PRIVATE_H
#define INGOT_RUNTIME_KEPT_PRIVATE_H

#include "runtime/saved/kept.h"

enum { KEPT_NONE = UINT32_MAX };

/* Ids, keys, values and marks of a block in memory. */
static inline uint8_t *kept_slot(const struct kept *k, uint32_t i)
{
    return k->slots + i * (k->keys_bytes + k->marks_bytes);
}

/* Return the index of the block with this serial number in a list (n). KEPT_NONE: not found. */
uint32_t kept_find_serial(const struct kept_block *list, uint32_t n, uint64_t serial);

/* Return a free block of a list (n), or else the one used longest ago; never a block used after
 * `since`, nor the one whose serial is `but`. KEPT_NONE: none. */
uint32_t kept_oldest(const struct kept_block *list, uint32_t n, uint64_t since, uint64_t but);

/* Read what the file contains. Without a file, or if the file is too small, k->n_card is 0. */
void kept_file_open(struct kept *k, const struct session *s);

/* Read the file's block i into the slot of block `to` in memory. If the checksum is wrong, drop the
 * block and return false. */
bool kept_file_read_keys(struct kept *k, uint32_t i, uint32_t to);
bool kept_file_read_marks(struct kept *k, uint32_t i, uint32_t to);

#endif
