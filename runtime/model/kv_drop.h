/* Positions out of the middle of a cache: those after them move up, and their keys, which were rotated
 * for where they stood, are rotated by the difference. */
#ifndef INGOT_RUNTIME_KV_DROP_H
#define INGOT_RUNTIME_KV_DROP_H

#include <stdint.h>

#include "runtime/compute/kv_cache.h"
#include "runtime/model/transformer.h"

/* The obstacle, as the end of an error message; NULL: nothing. */
const char *kv_drop_error_message(const struct image *image, const struct kv_cache *c);

/* For `end` positions from .. from + n go, both multiples of KV_TILE, from + n <= end. A key goes
 * through its type once more; a value keeps its bytes. Core 0 only, between passes. Source: the
 * rotation of ALGORITHMS' rope composed with itself; sinks are those of arXiv 2309.17453. */
void kv_drop(const struct transformer *t, const struct kv_cache *c, uint32_t from, uint32_t n,
             uint32_t end, bool is_long);

#endif
