/* A list of token ids in a request: [1, 2, 3]. */
#ifndef INGOT_RUNTIME_JSON_IDS_H
#define INGOT_RUNTIME_JSON_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read the next id. *at is the whole list with its brackets before the first call, and the rest of
 * the list afterwards. Return false if the list has ended (*at is then NULL), or if the next item
 * is not an id. */
bool json_ids_next(const char **at, uint32_t *id);

/* Check that `text` is a list of at least 1 and at most `most` ids below `vocab`; sets *n to their
 * number. Return NULL, or a message. */
const char *json_ids_check(const char *text, uint32_t vocab, uint32_t most, uint32_t *n);

#endif
