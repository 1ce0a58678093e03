/* A list of token ids in a request: [1, 2, 3]. */
#ifndef INGOT_RUNTIME_JSON_IDS_H
#define INGOT_RUNTIME_JSON_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next id of a list, of which *at is the rest; at first all of it, brackets included. False:
 * there is no further id (*at is then NULL), or what comes is not an id. */
bool json_ids_next(const char **at, uint32_t *id);

/* NULL: text is a list of 1 to most ids below vocab, *n of them. Otherwise a message. */
const char *json_ids_check(const char *text, uint32_t vocab, uint32_t most, uint32_t *n);

#endif
