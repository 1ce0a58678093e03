/* Blocks in memory and those in a file: what kept.c and kept_file.c have in common. */
#ifndef INGOT_RUNTIME_KEPT_PRIVATE_H
#define INGOT_RUNTIME_KEPT_PRIVATE_H

#include "runtime/saved/kept.h"

enum { KEPT_NONE = UINT32_MAX };

/* Ids, keys, values and marks of a block in memory. */
static inline uint8_t *kept_slot(const struct kept *k, uint32_t i)
{
    return k->slots + i * (k->keys_bytes + k->marks_bytes);
}

/* The block of a serial number in a list (n). KEPT_NONE: it is not there. */
uint32_t kept_find_serial(const struct kept_block *list, uint32_t n, uint64_t serial);

/* The free block of a list (n), or the one that was used longest ago, but not after `since`, and not `but`. KEPT_NONE: none. */
uint32_t kept_oldest(const struct kept_block *list, uint32_t n, uint64_t since, uint64_t but);

/* Look what the file has. Without one, or where it has no room, k->n_card is 0. */
void kept_file_open(struct kept *k, const struct session *s);

/* Bytes of the file's block i into the slot of block `to` in memory. False: they are not what they were, and the
 * block is given up. */
bool kept_file_read_keys(struct kept *k, uint32_t i, uint32_t to);
bool kept_file_read_marks(struct kept *k, uint32_t i, uint32_t to);

#endif
