/* Take positions out of the middle of a cache. Later positions move up, and their keys, which were
 * rotated for the old positions, are rotated by the difference. */
#ifndef INGOT_RUNTIME_KV_DROP_H
#define INGOT_RUNTIME_KV_DROP_H

#include <stdint.h>

#include "runtime/compute/kv_cache.h"
#include "runtime/model/transformer.h"

/* Return why kv_drop is not possible, as the end of a sentence; NULL if it is possible. */
const char *kv_drop_error_message(const struct image *image, const struct kv_cache *c);

/* Remove positions [from, from + n) from a cache that has `end` positions. from and n are multiples
 * of KV_TILE; from + n <= end. Later keys are converted to their type once more; values keep their
 * bytes. Core 0 calls this between passes. Sources: rope (arXiv 2104.09864), applied twice;
 * attention sinks (arXiv 2309.17453). */
void kv_drop(const struct transformer *t, const struct kv_cache *c, uint32_t from, uint32_t n,
             uint32_t end, bool is_long);

#endif
